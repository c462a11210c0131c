//! The frame of a page, and text that cannot break out of it.

use std::fmt::Write as _;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Text as HTML, in elements and in quoted attributes.
pub(super) fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => html += "&amp;",
            '<' => html += "&lt;",
            '>' => html += "&gt;",
            '"' => html += "&quot;",
            '\'' => html += "&#39;",
            c => html.push(c),
        }
    }
    html
}

/// JSON that may stand in a `script` element.
pub(super) fn embedded(id: &str, value: &serde_json::Value) -> String {
    let json = value.to_string().replace('<', "\\u003c");
    format!("<script type=\"application/json\" id=\"{id}\">{json}</script>\n")
}

/// A whole page.
pub(super) fn page(title: &str, body: &str) -> String {
    let title = escaped(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n\
         {body}</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

/// The verdict of a page: a word with its class, and a sentence.
pub(super) fn verdict(class: &str, word: &str, sentence: &str) -> String {
    let (word, sentence) = (escaped(word), escaped(sentence));
    format!("<p class=\"verdict {class}\" role=\"status\"><strong>{word}</strong> {sentence}</p>\n")
}

/// A heading of a section that links can lead to.
pub(super) fn section(id: &str, heading: &str) -> String {
    format!("<h2 id=\"{id}\">{}</h2>\n", escaped(heading))
}

/// The field that filters the table of this id.
pub(super) fn filter(table: &str, what: &str) -> String {
    format!(
        "<p class=\"filter\"><label>Filter {} <input type=\"search\" data-table=\"{table}\" \
         placeholder=\"words that all must be in a row\"></label> <span class=\"shown\" aria-live=\"polite\"></span></p>\n",
        escaped(what)
    )
}

/// A table whose cells are HTML already; a column whose name begins with `#` has numbers.
pub(super) fn table(
    id: &str,
    caption: &str,
    head: &[&str],
    rows: &[(String, Vec<String>)],
) -> String {
    let mut html = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table id=\"{id}\"><caption>{0}</caption><thead><tr>",
        escaped(caption)
    );
    for name in head {
        let (class, name) = match name.strip_prefix('#') {
            Some(name) => (" class=\"number\"", name),
            None => ("", *name),
        };
        let _ = write!(html, "<th scope=\"col\"{class}>{}</th>", escaped(name));
    }
    html += "</tr></thead><tbody>\n";
    for (class, cells) in rows {
        let _ = write!(html, "<tr class=\"{class}\">");
        for (cell, name) in cells.iter().zip(head) {
            let class = if name.starts_with('#') { " class=\"number\"" } else { "" };
            let _ = write!(html, "<td{class}>{cell}</td>");
        }
        html += "</tr>\n";
    }
    html + "</tbody></table></div>\n"
}

/// A picture with its text alternative and its caption.
pub(super) fn figure(svg: &str, alternative: &str, caption: &str) -> String {
    let svg = svg.replacen(
        "<svg ",
        &format!("<svg role=\"img\" aria-label=\"{}\" ", escaped(alternative)),
        1,
    );
    format!("<figure>{svg}<figcaption>{}</figcaption></figure>\n", escaped(caption))
}

/// A list of sentences; nothing where there are none.
pub(super) fn list(sentences: &[String]) -> String {
    if sentences.is_empty() {
        return String::new();
    }
    let items = sentences.iter().map(|one| format!("<li>{}</li>", escaped(one)));
    format!("<ul>{}</ul>\n", items.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_break_out() {
        assert_eq!(escaped("<a b='c'>&\""), "&lt;a b=&#39;c&#39;&gt;&amp;&quot;");
        let json = embedded("x", &serde_json::json!(["</script><script>alert(1)"]));
        assert_eq!(json.matches("<script").count(), 1, "{json}");
        assert_eq!(json.matches("</script>").count(), 1, "{json}");
    }
}

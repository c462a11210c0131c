//! Fenced blocks of a Markdown page, in order.

/// A fenced block.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    /// The first word behind the fence.
    pub(crate) tag: String,
    /// What stands between the fences.
    pub(crate) text: String,
    /// Line of the opening fence in the page, from 1.
    pub(crate) line: usize,
    /// Number of the heading above it, from 1; 0 in front of the first.
    pub(crate) section: usize,
    /// The heading above it, without its number signs.
    pub(crate) heading: String,
    /// Whether nothing but blank lines stands between this block and the one before.
    pub(crate) follows: bool,
}

/// All blocks of a page.
///
/// # Panics
/// The page hides code from the tests: a fence without a tag, of another kind or without an end, or
/// a block that is a block by its indentation alone.
pub(crate) fn blocks(page: &str, text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut section, mut heading, mut follows, mut blank) = (0, String::new(), false, true);
    let mut in_list = false;
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let place = format!("{page}:{}", number + 1);
        let bare = line.trim_start();
        assert!(!bare.starts_with("~~~"), "{place}: fences are written with three backticks");
        if let Some(tag) = bare.strip_prefix("```") {
            let tag = tag.split([' ', ',']).next().unwrap_or_default().to_owned();
            assert!(!tag.is_empty(), "{place}: a block without a tag: nothing would test it");
            let indent = line.len() - bare.len();
            let mut text = String::new();
            loop {
                let (_, line) = lines.next().unwrap_or_else(|| panic!("{place}: it has no end"));
                if line.trim() == "```" {
                    break;
                }
                text += line.get(indent..).unwrap_or(line.trim_start());
                text.push('\n');
            }
            let heading = heading.clone();
            blocks.push(Block { tag, text, line: number + 1, section, heading, follows });
            (follows, blank) = (true, false);
            continue;
        }
        if bare.starts_with(['-', '*', '1']) && !bare.is_empty() {
            in_list = true;
        } else if !bare.is_empty() && bare.len() == line.len() {
            in_list = false;
        }
        assert!(
            !line.starts_with("    ") || !blank || in_list || bare.is_empty(),
            "{place}: a block by indentation alone; give it a fence and a tag"
        );
        if bare.starts_with('#') {
            section += 1;
            heading = bare.trim_start_matches('#').trim().to_owned();
        }
        blank = bare.is_empty();
        follows &= blank;
    }
    blocks
}

#[test]
fn a_page_is_read_in_order() {
    let text =
        "# One\n\n```sh\na\n```\n\n```text\nb\n```\nwords\n## Two\n- x\n  ```yaml\n  k: 1\n  ```\n";
    let all = blocks("page", text);
    let told: Vec<_> = all
        .iter()
        .map(|b| (b.tag.as_str(), b.text.as_str(), b.line, b.section, b.follows))
        .collect();
    assert_eq!(
        told,
        [("sh", "a\n", 3, 1, false), ("text", "b\n", 7, 1, true), ("yaml", "k: 1\n", 13, 2, false)]
    );
    assert_eq!(all[2].heading, "Two");
}

#[test]
#[should_panic(expected = "page:1: a block without a tag")]
fn a_block_without_a_tag_is_refused() {
    blocks("page", "```\nrankcheck run\n```\n");
}

#[test]
#[should_panic(expected = "page:3: a block by indentation alone")]
fn an_indented_block_is_refused() {
    blocks("page", "words\n\n    rankcheck run\n");
}

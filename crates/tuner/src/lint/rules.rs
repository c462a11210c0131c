//! The table of rules: name, severity, one line of why.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The file does not do what it says.
    Error,
    /// It probably does not do what its author meant.
    Warning,
    /// Worth knowing.
    Info,
}

impl Severity {
    /// The spelling in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

macro_rules! rules {
    ($($variant:ident $name:literal $severity:ident $why:literal;)*) => {
        /// One rule of the linter.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum RuleId {
            $(#[doc = $why] $variant,)*
        }

        impl RuleId {
            /// Every rule.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name in reports.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// How bad its findings are.
            pub const fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity,)* }
            }

            /// Why it exists.
            pub const fn why(self) -> &'static str {
                match self { $(Self::$variant => $why,)* }
            }
        }
    };
}

rules! {
    TooFewFields "too-few-fields" Error "A row of fewer than 8 fields is dropped without a message.";
    TooManyFields "too-many-fields" Error "Fields after the 10th are ignored without a message.";
    UnknownName "unknown-name" Error "Names are compared exactly; an unknown one means a default in some dialects and a skipped row in others.";
    BadBytes "bad-bytes" Error "Byte bounds are plain decimal numbers: no suffixes, hex, exponents, signs or wildcards.";
    BadInteger "bad-integer" Error "The last five fields are plain integers; -1 is the only wildcard.";
    EmptyField "empty-field" Error "Separators collapse: an empty field shifts all later columns to the left.";
    MinAboveMax "min-above-max" Error "A row whose minimum exceeds its maximum never matches.";
    NeverMatches "never-matches" Error "A row for a number of nodes, ranks, operations or a kind of buffer that does not exist never matches.";
    RanksBelowNodes "ranks-below-nodes" Error "A communicator has at least one rank a node.";
    LiveComment "live-comment" Error "A comment that does not start in the first column can be loaded as a row.";
    LineTooLong "line-too-long" Error "What follows the 255th byte of a line is read as a line of its own, comment or not.";
    NulByte "nul-byte" Error "A NUL byte ends the line in some dialects and the file in others.";
    HeaderRow "header-row" Warning "The format has no header; one is read as a row.";
    Quotes "quotes" Warning "Quotes are part of the field.";
    ByteOrderMark "byte-order-mark" Warning "A byte order mark is part of the first field.";
    Crlf "crlf" Warning "A carriage return stays in the line in all dialects but one.";
    IndentedComment "indented-comment" Warning "Only a `#` in the first column is a comment in every dialect.";
    TrailingText "trailing-text" Warning "Text behind a number is ignored without a message.";
    Channels "channels" Warning "A channel count of 0 or below -1 means something else in each dialect.";
    OneChannel "one-channel" Warning "NVIDIA's example plugin sets 1 channel wherever no row applies or a row says -1.";
    Shadowed "shadowed" Warning "An earlier row takes all or part of the sizes; the first applicable row wins.";
    Gap "gap" Warning "Sizes between two ranges of the same kind have no row.";
    TouchingBounds "touching-bounds" Warning "Bounds are inclusive: a size that ends one range and begins the next belongs to the earlier row.";
    MixedBounds "mixed-bounds" Warning "Most ranges end one byte below a round size, this one on it, or the reverse.";
    NearPower "near-power" Warning "The bound is close to a round size, but neither it nor the byte beside it.";
    OpenTop "open-top" Warning "Sizes above the largest bound have no row.";
    SpecificFirst "specific-first" Info "A more specific earlier row takes part of this row's communicators.";
    RanksNotMultiple "ranks-not-multiple" Info "The ranks do not spread evenly over the nodes.";
    AlgorithmUnsupported "algorithm-unsupported" Info "The library does not offer this algorithm, or this protocol with it, for this collective; the row falls through.";
    UnreachableMax "unreachable-max" Info "No message of common element types has exactly this size.";
}

impl JsonSchema for RuleId {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "RuleId".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let names: Vec<_> = Self::ALL.iter().map(|rule| rule.name()).collect();
        schemars::json_schema!({ "type": "string", "enum": names })
    }
}

impl Serialize for RuleId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

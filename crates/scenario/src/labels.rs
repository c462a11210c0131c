//! How ids spell the values of axes that have no short spelling of their own.

use crate::model::{CallValue, CallsValue, CountsValue, LayoutValue, NamedCounts};

pub(crate) fn counts_label(counts: &CountsValue) -> String {
    let numbers = |list: &Vec<u64>| list.iter().map(u64::to_string).collect::<Vec<_>>().join(".");
    match counts {
        CountsValue::Even | CountsValue::Named(NamedCounts::Even) => "even".into(),
        CountsValue::Named(NamedCounts::Uneven) => "uneven".into(),
        CountsValue::List(lists) => lists.iter().map(numbers).collect::<Vec<_>>().join("_"),
    }
}

pub(crate) fn scalars_label(scalars: &[i32]) -> String {
    scalars.iter().map(i32::to_string).collect::<Vec<_>>().join(".")
}

pub(crate) fn layout_label(layout: &LayoutValue) -> String {
    let region = |name: &str, region: crate::model::RegionValue| {
        format!("{name}+{}@{}", region.pad_columns, region.offset_elements)
    };
    format!("{},{}", region("in", layout.input), region("out", layout.output))
}

pub(crate) fn calls_label(calls: &CallsValue) -> String {
    let list = match calls {
        CallsValue::Count(count) => return count.to_string(),
        CallsValue::List(list) => list,
    };
    let one = |call: &CallValue| {
        let mut parts = Vec::new();
        parts.extend(call.shape.map(|shape| shape.0.to_string()));
        parts.extend(call.tile.map(|tile| tile.to_string()));
        parts.extend(call.blocks.map(|blocks| blocks.to_string()));
        parts.extend(call.group.as_ref().map(|group| match &group.0 {
            collectives::GroupSpec::Ranks(ranks) => {
                let ranks: Vec<String> = ranks.iter().map(u32::to_string).collect();
                format!("g{}", ranks.join("."))
            }
            collectives::GroupSpec::Strided { start, stride, size } => {
                format!("g{start}+{stride}x{size}")
            }
            named => format!("{named:?}").to_lowercase(),
        }));
        parts.extend(call.root.map(|root| format!("root{root}")));
        parts.extend(call.op.map(|op| op.to_string()));
        parts.extend(call.counts.as_ref().map(|counts| format!("counts{}", counts_label(counts))));
        let scalars = call.scalars.as_ref();
        parts.extend(scalars.map(|scalars| format!("scalars{}", scalars_label(scalars))));
        parts.extend(call.layout.as_ref().map(layout_label));
        if parts.is_empty() { "same".to_owned() } else { parts.join("-") }
    };
    list.iter().map(one).collect::<Vec<_>>().join("+")
}

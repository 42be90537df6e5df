//! A writer of HTML that never writes HTML from others.
//!
//! Names of elements and attributes are words of this program. All other text passes through one function, [`escaped`].
//! A template engine would escape as well, but always has a way to write raw text.

use std::fmt::{self, Write as _};

use crate::{Inline, Untrusted, Xml, phrase};

/// The only way of text into a page: control characters become visible, characters with a meaning in HTML become
/// entities.
fn escaped(text: &Untrusted) -> String {
    Xml.text(text)
}

/// Names and values of attributes.
pub type MarkupAttributes<'a> = &'a [(&'static str, &'a str)];

/// The items of a list that is a table. The attribute `data-items` of a list is the selector of its items; the script
/// moves from one to the next.
pub const ROWS: &str = "tbody > tr";

/// A page, or a part of one.
#[derive(Debug, Default)]
pub struct Markup {
    text: String,
}

impl Markup {
    /// The part that `write` writes.
    pub fn of(write: impl FnOnce(&mut Self)) -> Self {
        let mut part = Self::default();
        write(&mut part);
        part
    }

    /// The page so far.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// How long it is, in bytes.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// An element with its content.
    pub fn element(&mut self, name: &'static str, attributes: MarkupAttributes<'_>, inside: impl FnOnce(&mut Self)) {
        self.open(name, attributes);
        inside(self);
        self.close(name);
    }

    /// An element with a text in one line.
    pub fn leaf(&mut self, name: &'static str, attributes: MarkupAttributes<'_>, text: impl Into<Untrusted>) {
        self.open(name, attributes);
        self.line(&text.into());
        self.close(name);
    }

    /// A paragraph of a class; of none, if that is empty.
    pub fn paragraph(&mut self, class: &str, parts: &[Inline]) {
        let attributes = [("class", class)];
        self.element("p", if class.is_empty() { &[] } else { &attributes }, |page| page.phrase(parts));
    }

    /// Parts of a sentence.
    pub fn phrase(&mut self, parts: &[Inline]) {
        for part in parts {
            match part {
                Inline::Words(words) => self.words(words),
                Inline::Line(text) => self.line(text),
                Inline::Code(text) => self.leaf("code", &[], text.clone()),
            }
        }
    }

    /// Remarks at the end of a section; nothing if there are none.
    ///
    /// - `attributes`: those of the list beside its class.
    pub fn notes(&mut self, attributes: MarkupAttributes<'_>, notes: &[Untrusted]) {
        if !notes.is_empty() {
            self.element("ul", &[&[("class", "notes")], attributes].concat(), |page| {
                for note in notes {
                    page.leaf("li", &[], note.clone());
                }
            });
        }
    }

    /// A part that can be wider than the page, with a name for those who do not see it.
    ///
    /// - `has_rows`: whether it is a table whose rows are items, see [`ROWS`].
    pub fn scroll(&mut self, label: &str, has_rows: bool, inside: impl FnOnce(&mut Self)) {
        self.scroll_of("scroll", label, has_rows, inside);
    }

    /// The same, of another class.
    pub fn scroll_of(&mut self, class: &str, label: &str, has_rows: bool, inside: impl FnOnce(&mut Self)) {
        let rows = has_rows.then_some(("data-items", ROWS));
        let attributes = [("class", class), ("tabindex", "0"), ("role", "group"), ("aria-label", label)];
        self.element("div", &attributes.into_iter().chain(rows).collect::<Vec<_>>(), inside);
    }

    /// A table without its caption: the names of its columns, and a row for each item, in which `row` writes the cells.
    pub fn rows<T>(&mut self, names: &[&str], items: impl IntoIterator<Item = T>, row: impl Fn(T, &mut Self)) {
        self.element("thead", &[], |page| {
            page.element("tr", &[], |page| names.iter().for_each(|name| page.leaf("th", &[("scope", "col")], *name)));
        });
        self.element("tbody", &[], |page| items.into_iter().for_each(|item| row(item, page)));
    }

    /// A cell of a table with a number.
    pub fn number(&mut self, number: impl fmt::Display) {
        self.leaf("td", &[("class", "num")], format!("{number}"));
    }

    /// A cell of a table.
    pub fn cell(&mut self, inside: impl FnOnce(&mut Self)) {
        self.element("td", &[], inside);
    }

    /// An SVG of a class, a width and a height.
    pub fn picture(
        &mut self,
        class: &str,
        [width, height]: [usize; 2],
        names: [(&'static str, &str); 2],
        inside: impl FnOnce(&mut Self),
    ) {
        let (view, width, height) = (format!("0 0 {width} {height}"), width.to_string(), height.to_string());
        let size = [("class", class), ("width", &width), ("height", &height), ("viewBox", &view)];
        self.element("svg", &[&size[..], &names].concat(), inside);
    }

    /// A shape of SVG of a class.
    pub fn shape(&mut self, name: &'static str, class: &str, place: &[(&'static str, usize)]) {
        let place: Vec<(&str, String)> = place.iter().map(|(name, number)| (*name, number.to_string())).collect();
        let place = place.iter().map(|(name, number)| (*name, number.as_str()));
        self.element(name, &std::iter::once(("class", class)).chain(place).collect::<Vec<_>>(), |_| {});
    }

    /// A line of SVG of a class.
    pub fn path(&mut self, class: &str, path: &str) {
        self.element("path", &[("class", class), ("d", path)], |_| {});
    }

    /// Texts of others as code, with commas.
    pub fn codes(&mut self, texts: &[Untrusted]) {
        self.phrase(&phrase::codes(texts, ", "));
    }

    /// A line of a source, if it is known.
    pub fn statement(&mut self, source: Option<&Untrusted>) {
        match source {
            Some(source) => self.leaf("code", &[], source.clone()),
            None => self.leaf("span", &[("class", "quiet")], "not in the repository"),
        }
    }

    /// An element without content, such as `meta`. In SVG such an element must be closed: use
    /// [`element`](Self::element).
    pub fn open(&mut self, name: &'static str, attributes: MarkupAttributes<'_>) {
        write!(self.text, "<{name}").expect("a string takes all");
        for (attribute, value) in attributes {
            let value = Xml.attribute(&Untrusted::from(*value));
            write!(self.text, " {attribute}=\"{value}\"").expect("a string takes all");
        }
        self.text.push('>');
    }

    fn close(&mut self, name: &'static str) {
        write!(self.text, "</{name}>").expect("a string takes all");
    }

    /// Words of this program.
    pub fn words(&mut self, words: &str) {
        self.text.push_str(&escaped(&words.into()));
    }

    /// Text from others in one line: line breaks and tabs become visible.
    pub fn line(&mut self, text: &Untrusted) {
        self.text.push_str(&Xml.attribute(text));
    }

    /// Text from others, with its lines.
    pub fn block(&mut self, text: &Untrusted) {
        self.text.push_str(&escaped(text));
    }

    /// A break between elements, for people who look at the source.
    pub fn newline(&mut self) {
        self.text.push('\n');
    }

    /// A part that was written separately.
    pub fn part(&mut self, part: &Self) {
        self.text.push_str(&part.text);
    }

    /// The style or the script of this program, unchanged.
    pub fn own(&mut self, text: &'static str) {
        self.text.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_of_others_ends_an_element_or_an_attribute() {
        let mut page = Markup::default();
        let evil: Untrusted = "</p><script>a('\"&')</script>\u{202e}\x1b".into();
        page.element("p", &[("title", "\"><b onclick='x'>\n")], |page| page.block(&evil));
        assert_eq!(
            page.as_str(),
            "<p title=\"&quot;&gt;&lt;b onclick=&#39;x&#39;&gt;\\n\">&lt;/p&gt;&lt;script&gt;a(&#39;&quot;&amp;&#39;)&lt;/script&gt;\\u{202e}\\x1b</p>"
        );
    }

    proptest! {
        #[test]
        fn no_text_makes_markup(bytes: Vec<u8>, text: String) {
            for text in [Untrusted::from(bytes), Untrusted::from(text)] {
                let mut page = Markup::default();
                page.block(&text);
                page.line(&text);
                prop_assert!(!page.as_str().contains(['<', '>', '"', '\'']));
            }
        }
    }
}

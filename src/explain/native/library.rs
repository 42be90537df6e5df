//! Names of parts of classes of the C++ library, in the words of who uses these classes.
//!
//! The members are those of the library of GNU. A part that is not known keeps its name.

/// What the members of the library are called, and what stands for them; longer names first.
const MEMBERS: [(&str, &str); 15] = [
    // `std::vector`: the elements, and where they end.
    ("._M_impl._M_start[", "["),
    ("._M_impl._M_start->", "[0]."),
    ("._M_impl._M_start", ".begin()"),
    ("._M_impl._M_finish", ".end()"),
    // `std::map`, `std::set`; `std::list`; `std::unordered_map`.
    ("._M_t._M_impl._M_node_count", ".size()"),
    ("._M_impl._M_node._M_size", ".size()"),
    ("._M_h._M_element_count", ".size()"),
    // `std::unique_ptr`: what it points to.
    ("._M_t._M_t._M_head_impl", ""),
    ("._M_t._M_head_impl", ""),
    // `std::shared_ptr`.
    ("._M_ptr->", "->"),
    // `std::string`: the characters, and their number.
    ("._M_dataplus._M_p[", "["),
    ("._M_local_buf[", "["),
    ("._M_string_length", ".size()"),
    // `std::array`.
    ("._M_elems[", "["),
    ("._M_elems", ""),
];

/// The name of a variable or of a part of one, with the members of the library replaced.
pub fn plain(name: String) -> String {
    if !name.contains("._M_") && !name.contains("->_M_") {
        return name;
    }
    if let Some(vector) = name.strip_prefix('*').and_then(|rest| rest.strip_suffix("._M_impl._M_start")) {
        return plain(format!("{vector}[0]"));
    }
    let mut plain = name.replace("->_M_", "->._M_");
    for (member, stands_for) in MEMBERS {
        plain = plain.replace(member, stands_for);
    }
    plain = plain.replace("->._M_", "->_M_");
    // `p->[2]` would be an element of what `p` leads to.
    if plain.contains("->[") || plain.contains("->.") { name } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: &str) {
        assert_eq!(plain(name.to_owned()), expected);
    }

    #[test]
    fn elements_and_sizes_are_called_as_in_the_source() {
        check("order._M_impl._M_start[2].first", "order[2].first");
        check("this->items._M_impl._M_start[3]", "this->items[3]");
        check("name._M_string_length", "name.size()");
        check("name._M_local_buf[3]", "name[3]");
        check("this->left._M_t._M_t._M_head_impl->value", "this->left->value");
        check("all->_M_impl._M_start[1]", "all->_M_impl._M_start[1]");
        check("plain[1].x", "plain[1].x");
        check("order._M_impl._M_finish", "order.end()");
        check("*this->order._M_impl._M_start", "this->order[0]");
        check("this->map._M_t._M_impl._M_node_count", "this->map.size()");
        check("queue._M_impl._M_node._M_size", "queue.size()");
        check("map._M_t._M_impl._M_header._M_left", "map._M_t._M_impl._M_header._M_left");
    }
}

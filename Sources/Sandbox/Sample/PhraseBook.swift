/// Sentences with slots, and the words for the slots.
///
/// A sentence names a slot in braces, as in `A {cat} slept on {place}.`; each use is filled
/// independently, with a capital at the start of a sentence. A book is a plain text that a speaker
/// of its language can edit:
///
/// ```
/// # A remark.
/// == cats
/// A {cat} slept on {place}.
///
/// == {cat}
/// kitten
/// tabby
/// ```
///
/// `== theme` begins the sentences on a theme, `== {slot}` the words for a slot, one a line. Blank
/// lines and lines that begin with `#` are ignored.
struct PhraseBook: Sendable {
    /// The error for a text that is no phrase book: names the text, and the wrong line if there is
    /// one.
    struct Flaw: Error, Equatable, CustomStringConvertible {
        let description: String

        fileprivate init(_ name: String, line: Int, _ cause: String) {
            description = "could not read \(name), line \(line): \(cause)"
        }
    }

    /// Sentences by theme, and words by slot with its braces.
    private var entries: [String: [String]] = [:]

    /// Reads a book.
    ///
    /// - Parameters:
    ///   - text: The text of the book.
    ///   - name: The name of the text in errors.
    ///   - other: Another book, with words for slots that the text lacks.
    /// - Throws: ``Flaw`` for a line without a heading, a heading without lines or that occurs
    ///   twice, an unpaired brace, and a slot without words.
    init(_ text: String, named name: String, besides other: PhraseBook? = nil) throws(Flaw) {
        var heading: (name: String, line: Int)?
        var uses: [String: Int] = [:]
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        for (line, text) in zip(1..., lines)
        where !text.allSatisfy(\.isWhitespace) && text.first != "#" {
            if text.hasPrefix("==") {
                try Self.check(heading, entries, name)
                let next = String(text.dropFirst(2).drop { $0 == " " })
                guard !next.isEmpty else {
                    throw Flaw(name, line: line, "a heading needs a name, as in == cats")
                }
                guard entries[next] == nil else {
                    throw Flaw(name, line: line, "== \(next) is there already")
                }
                heading = (next, line)
            } else {
                guard let heading else {
                    throw Flaw(name, line: line, "no heading such as == cats stands above it")
                }
                guard let slots = Self.slots(of: text) else {
                    throw Flaw(name, line: line, "a brace has no partner")
                }
                entries[heading.name, default: []].append(String(text))
                for slot in slots { uses[slot] = uses[slot] ?? line }
            }
        }
        try Self.check(heading, entries, name)
        entries.merge((other?.entries ?? [:]).filter { $0.key.hasPrefix("{") }) { own, _ in own }
        if let (slot, line) = uses.filter({ entries[$0.key] == nil }).min(by: {
            $0.value < $1.value
        }) {
            throw Flaw(
                name, line: line, "nobody knows words for \(slot); list them below == \(slot)")
        }
    }

    var themes: [String] { entries.keys.filter { !$0.hasPrefix("{") }.sorted() }

    /// The number of sentences of a theme.
    func count(_ theme: String) -> Int { entries[theme]?.count ?? 0 }

    /// A sentence of the theme with every slot filled; empty for an unknown theme.
    func phrase(_ theme: String, generator: inout SampleGenerator) -> String {
        guard let sentence = generator.element(of: entries[theme] ?? []) else { return "" }
        var result = ""
        var remainder = Substring(sentence)
        while let open = remainder.firstIndex(of: "{"),
            let close = remainder[open...].firstIndex(of: "}")
        {
            result += remainder[..<open]
            let word = generator.element(of: entries[String(remainder[open...close])] ?? []) ?? ""
            let isFirst = result.isEmpty || [". ", "? ", "! "].contains { result.hasSuffix($0) }
            result += isFirst ? word.prefix(1).uppercased() + word.dropFirst() : word
            remainder = remainder[remainder.index(after: close)...]
        }
        return result + remainder
    }

    /// - Throws: ``Flaw`` for a heading without lines.
    private static func check(
        _ heading: (name: String, line: Int)?, _ entries: [String: [String]], _ name: String
    ) throws(Flaw) {
        guard let heading, entries[heading.name] == nil else { return }
        throw Flaw(name, line: heading.line, "nothing stands below == \(heading.name)")
    }

    /// The slots of a sentence with their braces; nil for an unpaired brace.
    private static func slots(of sentence: Substring) -> [String]? {
        var slots: [String] = []
        var remainder = sentence
        while let brace = remainder.firstIndex(where: { "{}".contains($0) }) {
            guard remainder[brace] == "{",
                let end = remainder[brace...].dropFirst().firstIndex(where: { "{}".contains($0) }),
                remainder[end] == "}"
            else { return nil }
            slots.append(String(remainder[brace...end]))
            remainder = remainder[remainder.index(after: end)...]
        }
        return slots
    }
}

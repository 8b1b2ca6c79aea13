/// A parser of outside data: what feeds it, and what must hold whatever it is fed with.
///
/// The same targets are run by libFuzzer (`make fuzz`) and, over their seeds and some thousand
/// changes of them, by a test.
struct FuzzTarget: Sendable {
    /// Small letters and hyphens: `make fuzz TARGET=…`, and the folder of the corpus.
    let name: String
    /// Good inputs, and such as were bad once: changes begin from these.
    let seeds: [[UInt8]]
    /// Words of the format that chance would hardly find.
    let words: [String]
    /// Feeds the parser; a refusal by it is no finding.
    private let check: @Sendable (_ input: [UInt8]) throws -> Void

    init(
        _ name: String, seeds: [[UInt8]], words: [String] = [],
        check: @escaping @Sendable (_ input: [UInt8]) throws -> Void
    ) {
        self.name = name
        self.seeds = seeds
        self.words = words
        self.check = check
    }

    /// A target whose inputs are texts; what is no UTF-8 is mended before the parser sees it.
    init(
        _ name: String, texts: [String], words: [String] = [],
        check: @escaping @Sendable (_ text: String) throws -> Void
    ) {
        self.init(name, seeds: texts.map { Array($0.utf8) }, words: words) { input in
            try check(String(decoding: input, as: UTF8.self))
        }
    }

    /// Feeds the parser, and looks at what comes out and at how long that takes.
    ///
    /// - Throws: ``FuzzFinding`` if something does not hold.
    func run(_ input: [UInt8]) throws {
        let time = try WorkTime.measured { try check(input) }
        let allowed = WorkTime.allowed(for: input.count)
        try hold(
            time <= allowed, "\(input.count) bytes take less than \(allowed), but they took \(time)"
        )
    }
}

extension FuzzTarget: CustomStringConvertible {
    var description: String { name }
}

/// Something that should hold for a parser, and does not.
struct FuzzFinding: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Fails unless something holds.
///
/// - Parameters:
///   - condition: What should hold.
///   - claim: The sentence that is not true if it does not.
/// - Throws: ``FuzzFinding``.
func hold(_ condition: Bool, _ claim: @autoclosure () -> String) throws {
    if !condition { throw FuzzFinding("not true: \(claim())") }
}

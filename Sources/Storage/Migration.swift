/// One step of the database's history.
struct Migration: Sendable {
    let id: String
    /// The statements in order, without comments.
    let statements: [String]

    init(id: String, source: [UInt8]) {
        self.id = id
        self.statements = Self.split(String(decoding: source, as: UTF8.self))
    }

    /// A number over the statements, by which a changed step is noticed.
    ///
    /// 64-bit FNV-1a (Fowler, Noll and Vo) in hexadecimal. Comments do not
    /// count.
    var checksum: String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for statement in statements {
            for byte in statement.utf8 + [0] { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        }
        return String(hash, radix: 16)
    }

    /// Splits at semicolons at the end of a line, dropping lines of comment.
    ///
    /// The files of `migrations/` are written for that.
    private static func split(_ source: String) -> [String] {
        var statements: [String] = []
        var lines: [Substring] = []
        for line in source.split(whereSeparator: \.isNewline) {
            let trimmed = line.drop { $0 == " " }
            guard !trimmed.isEmpty, !trimmed.hasPrefix("--") else { continue }
            guard line.hasSuffix(";") else {
                lines.append(line)
                continue
            }
            statements.append((lines + [line.dropLast()]).joined(separator: "\n"))
            lines = []
        }
        return lines.isEmpty ? statements : statements + [lines.joined(separator: "\n")]
    }
}

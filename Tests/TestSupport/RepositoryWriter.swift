import Cryptography

/// Writes repositories of Bluesky as CAR files, right or wrong as a test wants it.
///
/// Written from the documents of the format and not from the reader.
package struct RepositoryWriter {
    /// A value in DAG-CBOR.
    package indirect enum Value {
        case null
        case bool(Bool)
        case int(Int)
        case double(Double)
        case bytes([UInt8])
        case text(String)
        case array([Value])
        case map([(String, Value)])
        case link(CID)
    }

    package typealias CID = [UInt8]

    package var did = "did:plc:z72i7hdynmk6r22z27h6tvur"
    package var version = 3
    /// How many entries a part of the tree has.
    package var fanOut = 4
    /// Blocks beside those of the tree, such as records that were deleted.
    package var strays: [Value] = []
    package private(set) var blocks: [(name: CID, bytes: [UInt8])] = []

    package init() {}

    /// A repository with these records, by their keys.
    package mutating func repository(_ records: [(key: String, value: Value)]) -> [UInt8] {
        blocks = []
        for stray in strays { _ = add(stray) }
        let entries = records.sorted { $0.key < $1.key }.map { (Array($0.key.utf8), add($0.value)) }
        let tree = node(entries[...])
        let commit = add(
            .map([
                ("did", .text(did)), ("rev", .text("3k")), ("sig", .bytes([1, 2, 3])),
                ("data", .link(tree)),
                ("prev", .null), ("version", .int(version)),
            ]))
        return Self.car(root: commit, blocks)
    }

    /// A file with this root and these blocks.
    package static func car(root: CID, _ blocks: [(name: CID, bytes: [UInt8])], version: Int = 1)
        -> [UInt8]
    {
        let header = encoded(.map([("roots", .array([.link(root)])), ("version", .int(version))]))
        return varint(header.count) + header
            + blocks.flatMap { varint($0.name.count + $0.bytes.count) + $0.name + $0.bytes }
    }

    package mutating func add(_ value: Value) -> CID {
        let bytes = Self.encoded(value)
        let name = Self.name(of: bytes)
        blocks.append((name, bytes))
        return name
    }

    /// A part of the tree with every `fanOut`th entry, and the others below it.
    private mutating func node(_ entries: ArraySlice<([UInt8], CID)>) -> CID {
        guard entries.count > fanOut else {
            return add(Self.node(left: nil, entries.map { ($0.0, $0.1, nil) }))
        }
        let step = entries.count / fanOut
        let tops = (1...fanOut).map { entries.startIndex + $0 * step - 1 }
        let left = entries.startIndex < tops[0] ? node(entries[entries.startIndex..<tops[0]]) : nil
        var members: [([UInt8], CID, CID?)] = []
        for (index, top) in tops.enumerated() {
            let end = index + 1 < tops.count ? tops[index + 1] : entries.endIndex
            let below = top + 1 < end ? node(entries[(top + 1)..<end]) : nil
            members.append((entries[top].0, entries[top].1, below))
        }
        return add(Self.node(left: left, members))
    }

    package static func node(left: CID?, _ entries: [(key: [UInt8], record: CID, below: CID?)])
        -> Value
    {
        var last: [UInt8] = []
        let members = entries.map { entry -> Value in
            let shared = zip(last, entry.key).prefix { $0 == $1 }.count
            last = entry.key
            return .map([
                ("k", .bytes(Array(entry.key.dropFirst(shared)))), ("p", .int(shared)),
                ("t", entry.below.map { .link($0) } ?? .null), ("v", .link(entry.record)),
            ])
        }
        return .map([("e", .array(members)), ("l", left.map { .link($0) } ?? .null)])
    }

    package static func name(of bytes: [UInt8]) -> CID {
        [0x01, 0x71, 0x12, 0x20] + HashFunction.sha256.digest(of: bytes)
    }

    package static func varint(_ number: Int) -> [UInt8] {
        var rest = number
        var bytes = [UInt8]()
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }

    package static func encoded(_ value: Value) -> [UInt8] {
        switch value {
        case .null: return [0xF6]
        case .bool(let isTrue): return [isTrue ? 0xF5 : 0xF4]
        case .int(let number):
            return number < 0 ? head(1, UInt64(-1 - number)) : head(0, UInt64(number))
        case .double(let number):
            let bits = number.bitPattern
            let bytes = stride(from: 56, through: 0, by: -8).map {
                UInt8(truncatingIfNeeded: bits >> $0)
            }
            return [0xFB] + bytes
        case .bytes(let bytes): return head(2, UInt64(bytes.count)) + bytes
        case .text(let text): return head(3, UInt64(text.utf8.count)) + Array(text.utf8)
        case .array(let values): return head(4, UInt64(values.count)) + values.flatMap(encoded)
        case .map(let members):
            return head(5, UInt64(members.count))
                + members.flatMap { encoded(.text($0.0)) + encoded($0.1) }
        case .link(let name): return [0xD8, 0x2A] + encoded(.bytes([0] + name))
        }
    }

    private static func head(_ major: UInt8, _ number: UInt64) -> [UInt8] {
        switch number {
        case 0..<24: [major << 5 | UInt8(number)]
        case 24..<0x100: [major << 5 | 24, UInt8(number)]
        case 0x100..<0x1_0000: [major << 5 | 25] + big(number, 2)
        case 0x1_0000..<0x1_0000_0000: [major << 5 | 26] + big(number, 4)
        default: [major << 5 | 27] + big(number, 8)
        }
    }

    private static func big(_ number: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(number >> (UInt64($0) * 8) & 0xFF) }
    }

    /// A post.
    package static func post(_ text: String, _ more: [(String, Value)] = []) -> Value {
        .map(
            [
                ("text", .text(text)), ("$type", .text("app.bsky.feed.post")),
                ("langs", .array([.text("ja")])), ("createdAt", .text("2023-02-18T12:33:11.250Z")),
            ] + more)
    }

    /// The key of a post.
    package static func key(_ number: Int, in collection: String = "app.bsky.feed.post") -> String {
        "\(collection)/3k\(String(100_000 + number))"
    }
}

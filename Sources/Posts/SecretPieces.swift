import Foundation

/// The short pieces by which a text tells a secret.
struct SecretPieces {
    /// How many bytes of a secret, or of a form of it, give it away.
    private static let usualLength = 8

    /// How many bytes a piece has: all of a secret that is shorter.
    private let length: Int
    /// Every run of so many bytes of every form, small letters for capital ones.
    private var pieces: Set<UInt64> = []

    init(of value: String) {
        let bytes = Array(value.utf8)
        length = min(Self.usualLength, bytes.count)
        add(bytes)
        guard length == Self.usualLength else { return }
        add(bytes.flatMap(Self.escaped))
        add(bytes.flatMap(Self.digits))
        for offset in 0..<3 {
            let text = Array(Data(repeatElement(0, count: offset) + bytes).base64EncodedString().utf8)
            // What the bytes around the secret decide is no piece of it, nor is the padding.
            let inner = Array(text.dropFirst(offset == 0 ? 0 : offset + 1).dropLast(4))
            add(inner)
            add(inner.map(Self.forURLs))
        }
    }

    /// Marks each byte of a text that stands in a piece.
    func mark(_ bytes: [UInt8], in isTold: inout [Bool]) {
        forEachPiece(of: bytes) { piece, end in
            guard pieces.contains(piece) else { return }
            for index in (end - length)..<end { isTold[index] = true }
        }
    }

    /// `bytes` as text, with `mark` in the place of each stretch of marked ones.
    static func text(_ bytes: [UInt8], without isTold: [Bool], leaving mark: String) -> String {
        var kept: [UInt8] = []
        var index = 0
        while index < bytes.count {
            guard isTold[index] else {
                kept.append(bytes[index])
                index += 1
                continue
            }
            kept += Array(mark.utf8)
            while index < bytes.count, isTold[index] { index += 1 }
            // A character of which a byte is gone goes whole.
            while index < bytes.count, bytes[index] & 0xC0 == 0x80 { index += 1 }
        }
        return String(decoding: kept, as: UTF8.self)
    }

    private mutating func add(_ bytes: [UInt8]) {
        var found: Set<UInt64> = []
        forEachPiece(of: bytes) { piece, _ in found.insert(piece) }
        pieces.formUnion(found)
    }

    /// Calls `body` with each run of ``length`` bytes and where it ends.
    private func forEachPiece(of bytes: [UInt8], _ body: (UInt64, Int) -> Void) {
        guard length > 0 else { return }
        let mask = length == 8 ? UInt64.max : 1 << UInt64(length * 8) - 1
        var piece: UInt64 = 0
        for (index, byte) in bytes.enumerated() {
            let isCapital = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            piece = (piece << 8 | UInt64(isCapital ? byte | 0x20 : byte)) & mask
            if index + 1 >= length { body(piece, index + 1) }
        }
    }

    private static func digits(_ byte: UInt8) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        return [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }

    private static func escaped(_ byte: UInt8) -> [UInt8] {
        let isPlain =
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
            || [0x2D, 0x2E, 0x5F, 0x7E].contains(byte)
        return isPlain ? [byte] : [UInt8(ascii: "%")] + digits(byte)
    }

    /// The other alphabet of Base64.
    private static func forURLs(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        default: byte
        }
    }
}

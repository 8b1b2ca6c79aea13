import Testing

@testable import Posts

/// RFC 4648, section 5, without padding.
@Suite struct Base64URLTests {
    @Test(arguments: [
        ([], ""), ([0], "AA"), ([0xFF], "_w"), ([0xFB, 0xEF, 0xFF], "--__"),
        (Array("foob".utf8), "Zm9vYg"), (Array("fooba".utf8), "Zm9vYmE"),
    ])
    func whatIsWrittenIsReadAgain(_ bytes: [UInt8], _ text: String) {
        #expect(Base64URL.text(of: bytes) == text)
        #expect(Base64URL.bytes(of: text) == bytes)
    }

    @Test(arguments: ["A", "AA==", "AB", "A+/A", " AA", "AA\n", "Ä", "AA.AA"])
    func anotherSpellingIsNotRead(_ text: String) { #expect(Base64URL.bytes(of: text) == nil) }
}

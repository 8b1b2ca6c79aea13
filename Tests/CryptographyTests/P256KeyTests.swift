import Testing

@testable import Cryptography

@Suite struct P256KeyTests {
    // The keys of RFC 8291, section 5, of the sender and of the browser, and what both compute from
    // them (appendix A).
    private static let scalar = "c9f58f89813e9f8e872e71f42aa64e1757c9254dcc62b72ddc010bb4043ea11c"
    private static let sender = """
        04fe33f4ab0dea71914db55823f73b54948f41306d920732dbb9a59a53286482\
        200e597a7b7bc260ba1c227998580992e93973002f3012a28ae8f06bbb78e5ec0f
        """
    private static let browserScalar =
        "ab5757a70dd4a53e553a6bbf71ffefea2874ec07a6b379e3c48f895a02dc33de"
    private static let browser = """
        042571b2becdfde360551aaf1ed0f4cd366c11cebe555f89bcb7b186a5333917\
        3168ece2ebe018597bd30479b86e3c8f8eced577ca59187e9246990db682008b0e
        """
    private static let shared = "932acbd63208387133837b0cd995911c3441eb66000998614a592727aef6912b"
    /// The order of the group.
    private static let order = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"

    private func bytes(_ text: String) -> [UInt8] {
        let digits = text.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map {
            UInt8(digits[$0] * 16 + digits[$0 + 1])
        }
    }

    @Test func keysAndSecretsAreThoseOfTheStandard() throws {
        let sender = try #require(P256Key(scalar: bytes(Self.scalar)))
        let browser = try #require(P256Key(scalar: bytes(Self.browserScalar)))
        #expect(hex(sender.publicKey) == Self.sender)
        #expect(hex(browser.publicKey) == Self.browser)
        #expect(sender.sharedSecret(with: browser.publicKey).map { hex($0) } == Self.shared)
        #expect(browser.sharedSecret(with: sender.publicKey).map { hex($0) } == Self.shared)
    }

    @Test func aPrivateKeyIsBetweenNothingAndTheOrder() {
        let zeros = String(repeating: "0", count: 64)
        for text in [zeros, Self.order, String(repeating: "f", count: 64), "", "01", "00" + zeros] {
            #expect(P256Key(scalar: bytes(text)) == nil, "\(text)")
        }
        #expect(P256Key(scalar: bytes(zeros.dropLast() + "1")) != nil)
        #expect(P256Key(scalar: bytes(Self.order.dropLast() + "0")) != nil)
    }

    @Test func onlyAPointOfTheCurveIsAPublicKey() throws {
        let key = P256Key.random()
        #expect(P256Key.isPublicKey(bytes(Self.browser)))
        var elsewhere = bytes(Self.browser)
        elsewhere[64] ^= 1
        let compressed = [2] + bytes(Self.browser)[1..<33]
        let wrong: [[UInt8]] = [
            elsewhere, compressed, [], [0], [UInt8](repeating: 0, count: 65),
            [4] + [UInt8](repeating: 0xFF, count: 64), bytes(Self.browser) + [0],
        ]
        for point in wrong {
            #expect(!P256Key.isPublicKey(point), "\(point)")
            #expect(key.sharedSecret(with: point) == nil, "\(point)")
        }
    }

    @Test func aDerivedKeyIsTheSameForTheSameSecret() {
        let key = P256Key.derived(from: "secret".utf8, purpose: "one")
        #expect(P256Key.derived(from: "secret".utf8, purpose: "one").publicKey == key.publicKey)
        #expect(P256Key.derived(from: "secret".utf8, purpose: "two").publicKey != key.publicKey)
        #expect(P256Key.derived(from: "Secret".utf8, purpose: "one").publicKey != key.publicKey)
        #expect(P256Key.random().publicKey != P256Key.random().publicKey)
    }

    /// Both numbers have 32 bytes, also those that begin with zeros.
    ///
    /// The tests of pushed messages verify signatures.
    @Test func aSignatureHas64Bytes() {
        let key = P256Key.random()
        for number in 0..<600 {
            #expect(key.signature(of: "\(number)".utf8).count == 64)
        }
    }
}

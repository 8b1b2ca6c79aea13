import Cryptography
import Testing

/// Vectors of the documents that define the functions.
@Suite struct HashFunctionTests {
    /// FIPS 180-4's examples, and a text of several blocks.
    @Test(arguments: [
        (
            "", "da39a3ee5e6b4b0d3255bfef95601890afd80709",
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        ),
        (
            "abc", "a9993e364706816aba3e25717850c26c9cd0d89d",
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        ),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func digestsAreThoseOfTheStandard(text: String, sha1: String, sha256: String) {
        #expect(hex(HashFunction.sha1.digest(of: text.utf8)) == sha1)
        #expect(hex(HashFunction.sha256.digest(of: text.utf8)) == sha256)
    }

    @Test func bytesThatLieInPiecesHaveTheSameDigest() {
        let text = Array("abc".utf8)
        #expect(
            HashFunction.sha256.digest(of: text.lazy.map(\.self))
                == HashFunction.sha256.digest(of: text))
    }

    /// RFC 2202 and RFC 4231, test cases 1 and 2.
    @Test(arguments: [
        (
            [UInt8](repeating: 0x0b, count: 20), "Hi There",
            "b617318655057264e28bc0b6fb378c8ef146be00",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), "what do ya want for nothing?",
            "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
    ])
    func codesAreThoseOfTheStandard(key: [UInt8], text: String, sha1: String, sha256: String) {
        #expect(hex(HashFunction.sha1.code(of: text.utf8, key: key)) == sha1)
        #expect(hex(HashFunction.sha256.code(of: text.utf8, key: key)) == sha256)
    }

    /// RFC 4231, test case 6.
    @Test func aKeyMayBeLongerThanABlock() {
        let key = [UInt8](repeating: 0xaa, count: 131)
        let code = HashFunction.sha256.code(
            of: "Test Using Larger Than Block-Size Key - Hash Key First".utf8, key: key)
        #expect(hex(code) == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
    }

    /// The HMAC of nothing under no key.
    @Test func keyAndTextMayBeEmpty() {
        #expect(
            hex(HashFunction.sha1.code(of: [], key: []))
                == "fbdb1d1b18aa6c08324b7d64b71fb76370690e1d")
    }
}

/// The bytes as hexadecimal digits.
func hex(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

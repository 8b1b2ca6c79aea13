import Testing

@testable import Cryptography

@Suite struct KeyDerivationTests {
    /// RFC 5869, appendix A.1 and A.3.
    @Test(arguments: [
        (
            Array(UInt8(0)...12), Array(UInt8(0xF0)...0xF9),
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
        ),
        (
            [], [],
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
        ),
    ])
    func keysAreThoseOfTheStandard(salt: [UInt8], purpose: [UInt8], key: String) {
        let material = [UInt8](repeating: 0x0B, count: 22)
        let derived = KeyDerivation.key(from: material, salt: salt, purpose: purpose, count: 42)
        #expect(hex(derived) == key)
    }
}

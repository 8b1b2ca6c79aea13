import Testing

@testable import Cryptography

@Suite struct ScryptTests {
    /// The third test vector of RFC 7914, section 12.
    @Test func derivesTheKeyOfTheStandard() throws {
        let key = try Scrypt.key(
            from: "pleaseletmein".utf8, salt: "SodiumChloride".utf8, count: 64, cost: 16_384)
        let hexadecimal = key.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(
            hexadecimal
                == "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
                + "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887")
    }

    @Test func anotherPasswordOrSaltGivesAnotherKey() throws {
        func key(_ password: String, _ salt: String) throws -> [UInt8] {
            try Scrypt.key(from: password.utf8, salt: salt.utf8, count: 32, cost: 1_024)
        }
        let first = try key("password", "salt")
        #expect(try key("password", "salt") == first)
        #expect(try key("passwore", "salt") != first)
        #expect(try key("password", "sale") != first)
        #expect(try key("", "").count == 32)
        // Bytes above 127 are no signed numbers to it.
        #expect(try key("pässwörd 密", "salt") != key("p?ssw?rd ?", "salt"))
    }

    /// A cost that needs more memory than is allowed is refused.
    @Test func tooMuchMemoryIsRefused() {
        #expect(throws: Scrypt.Unavailable.self) {
            try Scrypt.key(from: "p".utf8, salt: "s".utf8, count: 32, cost: 1 << 20)
        }
    }

    @Test func onlyEqualBytesAreEqual() {
        #expect(ConstantTime.areEqual([1, 2, 3], [1, 2, 3]))
        #expect(!ConstantTime.areEqual([1, 2, 3], [1, 2, 4]))
        #expect(!ConstantTime.areEqual([1, 2, 3], [1, 2]))
        #expect(!ConstantTime.areEqual([1, 2], [1, 2, 0]))
        #expect(ConstantTime.areEqual([UInt8](), [UInt8]()))
    }
}

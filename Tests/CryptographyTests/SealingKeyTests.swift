import Foundation
import Testing

@testable import Cryptography

@Suite struct SealingKeyTests {
    private static let plain = """
        Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.
        """
    private static let context: [UInt8] = [
        0x50, 0x51, 0x52, 0x53, 0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7,
    ]
    private static let nonce: [UInt8] = [
        7, 0, 0, 0, 0x40, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47,
    ]

    /// RFC 8439, section 2.8.2.
    @Test func theCipherIsThatOfTheStandard() throws {
        let key = SealingKey(Array(0x80...0x9f))
        let sealed = try key.sealed(Self.plain.utf8, context: Self.context, nonce: Self.nonce)
        #expect(
            hex(sealed.dropFirst(12)) == """
                d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da92728b\
                1a71de0a9e060b2905d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc\
                3ff4def08e4b7a9de576d26586cec64b61161ae10b594f09e26a7e902ecbd0600691
                """)
        #expect(key.opened(sealed, context: Self.context) == Array(Self.plain.utf8))
    }

    /// Sealed by the package `cryptography` of Python.
    @Test(arguments: [
        (Array(UInt8(0)...31), "AAECAwQFBgcICQoLpG8HJ6aHj/2zFQD38HSSY/RVF30w"),
        (Array("a phrase".utf8), "AAECAwQFBgcICQoLmNsLIJJhwQ5D1madd79QraKfOPp5"),
    ])
    func whatAnotherProgramSealedIsOpened(material: [UInt8], sealed: String) throws {
        let key = SealingKey(from: material, purpose: "mirror-bot credentials 1".utf8)
        let bytes = try #require(Data(base64Encoded: sealed))
        #expect(key.opened(bytes, context: "1:human".utf8) == Array("token".utf8))
    }

    @Test func nothingElseIsOpened() throws {
        let key = SealingKey(from: "one".utf8, purpose: "a".utf8)
        let sealed = try key.sealed("token".utf8, context: "place".utf8)
        #expect(key.opened(sealed, context: "elsewhere".utf8) == nil)
        #expect(
            SealingKey(from: "two".utf8, purpose: "a".utf8).opened(sealed, context: "place".utf8)
                == nil)
        #expect(
            SealingKey(from: "one".utf8, purpose: "b".utf8).opened(sealed, context: "place".utf8)
                == nil)
        for place in sealed.indices {
            var changed = sealed
            changed[place] ^= 1
            #expect(key.opened(changed, context: "place".utf8) == nil, "byte \(place)")
        }
        for count in 0..<sealed.count {
            #expect(
                key.opened(sealed.prefix(count), context: "place".utf8) == nil, "\(count) bytes")
        }
    }

    @Test func nothingIsSealedAndOpenedAsWell() throws {
        let key = SealingKey(from: "one".utf8, purpose: "a".utf8)
        let sealed = try key.sealed([], context: [])
        #expect(sealed.count == 28)
        #expect(key.opened(sealed, context: []) == [])
    }

    @Test func theSameTextIsSealedDifferentlyEachTime() throws {
        let key = SealingKey(from: "one".utf8, purpose: "a".utf8)
        #expect(try key.sealed("token".utf8, context: []) != key.sealed("token".utf8, context: []))
    }
}

import Testing

@testable import Cryptography

@Suite struct AES128GCMTests {
    /// Test cases 1 and 2 of the specification of GCM (McGrew and Viega, appendix B).
    @Test(arguments: [
        ("", "58e2fccefa7e3061367f1d57a4e7455a"),
        (
            "00000000000000000000000000000000",
            "0388dace60b6a392f328c2b971b2fe78ab6e47d42cec13bdf53a67b21257bddf"
        ),
    ])
    func theCipherIsThatOfTheStandard(plain: String, sealed: String) throws {
        let zeros = [UInt8](repeating: 0, count: plain.count / 2)
        let result = try AES128GCM.sealed(
            zeros, key: [UInt8](repeating: 0, count: AES128GCM.keySize),
            nonce: [UInt8](repeating: 0, count: AES128GCM.nonceSize))
        #expect(hex(result) == sealed)
    }
}

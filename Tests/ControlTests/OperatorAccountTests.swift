import NetworkNames
import Posts
import Testing

@testable import Control

/// X wants a bot's profile to name the account of who runs it.
@Suite struct OperatorAccountTests {
    private static let x = NetworkName.x.traits

    @Test(
        arguments: [
            ("@Ann", "Ann"), ("https://x.com/ann", "ann"), ("https://www.x.com/ann/", "ann"),
            ("ops@example.org", nil),
            ("https://example.org/ann", nil), ("@ann@social.example", nil), ("https://x.com/", nil),
            (nil, nil),
        ] as [(String?, String?)])
    func aContactMayNameAnAccount(contact: String?, handle: String?) {
        #expect(OperatorAccount(contact, on: Self.x).handle == handle)
    }

    @Test(arguments: [
        ("run by @ann", true), ("Run by @ANN.", true), ("see https://x.com/ann", true),
        ("run by @anna", false),
        ("ann runs it", false), ("", false), ("@annie and @ann", true), ("@ann_", false),
    ])
    func aBioNamesItOrNot(bio: String, isNamed: Bool) {
        let account = OperatorAccount("@ann", on: Self.x)
        #expect(account.isNamed(in: bio) == isNamed)
        #expect(account.finding(bio: bio, on: "X").verdict == (isNamed ? .ok : .warn))
    }

    @Test func withoutAnAccountTheSettingIsAskedFor() {
        let finding = OperatorAccount("ops@example.org", on: Self.x).finding(
            bio: "run by @ann", on: "X")
        #expect(finding.verdict == .warn)
        #expect(finding.fix?.contains("@ann") == true)
        #expect(finding.text.contains("OPERATOR_CONTACT"))
    }
}

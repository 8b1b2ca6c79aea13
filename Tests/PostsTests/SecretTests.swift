import Testing

@testable import Posts

@Suite struct SecretTests {
    private let token = "planted-token-5f1c"

    @Test func givesItsValueOnlyWhenRevealed() {
        let secret = Secret(token)
        #expect(secret.reveal() == token)
        #expect(!secret.isEmpty)
        #expect(Secret("").isEmpty)
    }

    @Test func isNeverShown() {
        struct Holder {
            let name = "bot"
            let secret: Secret
            let optional: Secret?
            let list: [Secret]
        }
        let secret = Secret(token)
        let holder = Holder(secret: secret, optional: secret, list: [secret])
        var dumped = ""
        dump(holder, to: &dumped)
        let shown = [
            "\(secret)", String(describing: secret), String(reflecting: secret), "\(holder)",
            String(reflecting: holder),
            "\(Optional(secret) as Any)", "\([secret])", dumped,
        ]
        for text in shown {
            #expect(!text.contains(token))
            #expect(text.contains("<redacted>"))
        }
        #expect(Mirror(reflecting: secret).children.isEmpty)
    }

    @Test(arguments: [
        ("a planted-token-5f1c b", "a <redacted> b"),
        ("planted-token-5f1cplanted-token-5f1c", "<redacted><redacted>"),
        ("nothing", "nothing"),
        ("", ""),
    ])
    func isTakenOutOfText(text: String, expected: String) {
        #expect(Secret(token).redacted(from: text) == expected)
    }

    @Test func anEmptySecretChangesNoText() {
        #expect(Secret("").redacted(from: "text") == "text")
    }
}

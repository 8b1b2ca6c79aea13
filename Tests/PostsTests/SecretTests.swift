import Foundation
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
        ("planted-token-5f1cplanted-token-5f1c", "<redacted>"),
        ("PLANTED-TOKEN-5F1C", "<redacted>"),
        ("the token planted-to… is wrong", "the token <redacted>… is wrong"),
        ("…oken-5f1c\u{301}é", "…<redacted>\u{301}é"),
        ("706c616e7465642d746f6b656e2d35663163", "<redacted>"),
        ("planted", "planted"), ("token planted", "token planted"),
        ("nothing", "nothing"),
        ("", ""),
    ])
    func isTakenOutOfText(text: String, expected: String) {
        #expect(Secret(token).redacted(from: text) == expected)
    }

    @Test(arguments: ["", "u", "uu"]) func isTakenOutOfBase64(before: String) {
        let text = Data((before + token).utf8).base64EncodedString()
        #expect(Secret(token).redacted(from: text).count < 18)
        #expect(Secret(token).redacted(from: text).contains("<redacted>"))
    }

    @Test func isTakenOutOfURLs() {
        let secret = Secret("a/b+c=d&e?f")
        #expect(secret.redacted(from: "?token=a%2Fb%2bc%3Dd%26e%3Ff") == "?token=<redacted>")
        #expect(secret.redacted(from: "YS9iK2M9ZCZlP2Y=").contains("<redacted>"))
    }

    @Test func aShortSecretIsTakenOutWhole() {
        #expect(
            Secret("abc").redacted(from: "xABCx ab c abc\u{301}")
                == "x<redacted>x ab c <redacted>\u{301}")
        #expect(Secret("abc").redacted(from: "ab") == "ab")
    }

    @Test func aPartOfOneSecretMayStandInAnother() {
        let secrets = [Secret("planted-key"), Secret("42-planted-token"), Secret("")]
        #expect(
            Secret.redacted(secrets, from: "42-planted-token and planted-key")
                == "<redacted> and <redacted>")
        #expect(Secret.redacted([], from: "planted-key") == "planted-key")
    }

    @Test func anEmptySecretChangesNoText() {
        #expect(Secret("").redacted(from: "text") == "text")
    }
}

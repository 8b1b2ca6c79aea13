import Foundation
import Testing

@testable import Sandbox

@Suite struct XSignatureTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        var method = "POST"
        var address: String
        var secrets: (consumer: String, token: String)
        var parameters: [(name: String, value: String)]
        var signature: String

        var testDescription: String { signature }
    }

    private static let documentation: [(name: String, value: String)] = [
        ("include_entities", "true"),
        ("status", "Hello Ladies + Gentlemen, a signed OAuth request!"),
        ("oauth_consumer_key", "xvz1evFS4wEEPTGEFPHBog"),
        ("oauth_nonce", "kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg"),
        ("oauth_signature_method", "HMAC-SHA1"), ("oauth_timestamp", "1318622958"),
        ("oauth_token", "370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb"),
        ("oauth_version", "1.0"),
    ]
    private static let documentationSecrets = (
        consumer: "kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw",
        token: "LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE"
    )

    private static func photos(
        _ timestamp: String, _ nonce: String, _ more: [(name: String, value: String)]
    ) -> [(name: String, value: String)] {
        [
            ("oauth_consumer_key", "dpf43f3p2l4k3l03"), ("oauth_signature_method", "HMAC-SHA1"),
            ("oauth_timestamp", timestamp), ("oauth_nonce", nonce),
        ] + more
    }

    private static let versionTwo: [(name: String, value: String)] = [
        ("oauth_consumer_key", "ck"), ("oauth_nonce", "abc123"),
        ("oauth_signature_method", "HMAC-SHA1"),
        ("oauth_timestamp", "1700000000"), ("oauth_token", "42-at"), ("oauth_version", "1.0"),
    ]

    private static let rfcRequest: [(name: String, value: String)] = [
        ("b5", "=%3D"), ("a3", "a"), ("c@", ""), ("a2", "r b"), ("c2", ""), ("a3", "2 q"),
        ("oauth_consumer_key", "9djdj82h48djs9d2"), ("oauth_token", "kkk9d7dh3k39sjv7"),
        ("oauth_signature_method", "HMAC-SHA1"), ("oauth_timestamp", "137131201"),
        ("oauth_nonce", "7d8f3e4a"),
    ]

    static let vectors: [Vector] =
        [
            ("https://api.x.com/1.1/statuses/update.json", "Ls93hJiZbQ3akF3HF3x1Bz8/zU4="),
            ("https://api.twitter.com/1.1/statuses/update.json", "hCtSmYh+iHYCEqBWrE7C7hYmtUk="),
            ("https://api.twitter.com/1/statuses/update.json", "tnnArxj06cWHq44gCs1OSKk/jLY="),
        ].map {
            Vector(
                address: $0.0, secrets: documentationSecrets, parameters: documentation,
                signature: $0.1)
        } + [
            Vector(
                address: "https://photos.example.net/initiate", secrets: ("kd94hf93k423kf44", ""),
                parameters: photos(
                    "137131200", "wIjqoS", [("oauth_callback", "http://printer.example.com/ready")]),
                signature: "74KNZJeDHnMBp0EMJ9ZHt/XKycU="),
            Vector(
                address: "https://photos.example.net/token",
                secrets: ("kd94hf93k423kf44", "hdhd0244k9j7ao03"),
                parameters: photos(
                    "137131201", "walatlh",
                    [("oauth_token", "hh5s93j4hdidpola"), ("oauth_verifier", "hfdp7dh39dks9884")]),
                signature: "gKgrFCywp7rO0OXSjdot/IHF7IU="),
            Vector(
                method: "GET", address: "http://photos.example.net/photos",
                secrets: ("kd94hf93k423kf44", "pfkkdhi9sl3r4s00"),
                parameters: photos(
                    "137131202", "chapoH",
                    [
                        ("oauth_token", "nnch734d00sl2jdk"), ("file", "vacation.jpg"),
                        ("size", "original"),
                    ]),
                signature: "MdpQcU8iPSUjWoN/UDMsK2sui9I="),
            Vector(
                address: "http://example.com/request", secrets: ("j49sk3j29djd", "dh893hdasih9"),
                parameters: rfcRequest, signature: "r6/TJjbCOr97/+UU0NsvSne7s5g="),
            Vector(
                address: "https://api.x.com/2/tweets", secrets: ("cs", "ats"),
                parameters: versionTwo,
                signature: "huKdDGu9XVMpPERb3Ssm2Gnz2cc="),
            Vector(
                method: "GET", address: "https://api.x.com/2/users/42/tweets",
                secrets: ("cs", "ats"),
                parameters: versionTwo + [
                    ("exclude", "retweets"), ("max_results", "100"),
                    ("tweet.fields", "created_at,entities,in_reply_to_user_id"),
                ], signature: "oaUJbtzulDcyqExEWJOWbA16dzs="),
            Vector(
                method: "GET", address: "https://api.x.com/2/tweets/search/recent",
                secrets: ("cs", "ats"),
                parameters: versionTwo + [("query", "日本語 ~*")],
                signature: "6T/llpt4mKaitLoLYC+NvWkkTwI="),
        ]

    @Test(arguments: vectors) func signsAsTheVectorsDo(vector: Vector) {
        let signature = XSignature(
            method: vector.method, address: vector.address, parameters: vector.parameters)
        let text = signature.text(
            consumerSecret: vector.secrets.consumer, tokenSecret: vector.secrets.token)
        #expect(text == vector.signature)
    }

    @Test(
        arguments: [
            ("Ladies + Gentlemen", "Ladies%20%2B%20Gentlemen"),
            ("An encoded string!", "An%20encoded%20string%21"),
            ("Dogs, Cats & Mice", "Dogs%2C%20Cats%20%26%20Mice"), ("☃", "%E2%98%83"),
            ("-._~", "-._~"),
        ])
    func escapesAllButTheUnreserved(text: String, escaped: String) {
        #expect(XSignature.escaped(text) == escaped)
    }

    @Test func sortsByNameAndThenByValue() {
        let signature = XSignature(method: "POST", address: "", parameters: Self.rfcRequest)
        let expected =
            "a2=r%20b&a3=2%20q&a3=a&b5=%3D%253D&c%40=&c2=&oauth_consumer_key=9djdj82h48djs9d2"
            + "&oauth_nonce=7d8f3e4a&oauth_signature_method=HMAC-SHA1&oauth_timestamp=137131201"
            + "&oauth_token=kkk9d7dh3k39sjv7"
        #expect(signature.parameterText == expected)
    }

    @Test func buildsTheBaseFromWhatCameOverTheWire() throws {
        let header = """
            OAuth oauth_consumer_key="xvz1evFS4wEEPTGEFPHBog", \
            oauth_nonce="kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg", oauth_signature="tnnArxj06cWHq44gCs1OSKk%2FjLY%3D", \
            oauth_signature_method="HMAC-SHA1", oauth_timestamp="1318622958", realm="ignored", \
            oauth_token="370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb", oauth_version="1.0"
            """
        let authorization = try #require(XAuthorization(header))
        #expect(authorization["oauth_signature"] == "tnnArxj06cWHq44gCs1OSKk/jLY=")
        let request = WireRequest(
            method: "post", target: "/1.1/statuses/update.json?include_entities=true",
            headers: [
                ("host", "API.x.com:80"), ("content-type", "application/x-www-form-urlencoded"),
            ],
            body: Array(
                "status=Hello%20Ladies%20%2B%20Gentlemen%2C%20a%20signed%20OAuth%20request%21".utf8)
        )
        let signature = XSignature(request, authorization: authorization)
        var expected = XSignature(
            method: "POST", address: "http://api.x.com/1.1/statuses/update.json",
            parameters: Self.documentation)
        #expect(signature.base == expected.base)
        expected.address = "https://api.x.com/1.1/statuses/update.json"
        #expect(expected.base.utf8.count == 446)
        #expect(
            expected.base.hasPrefix(
                "POST&https%3A%2F%2Fapi.x.com%2F1.1%2Fstatuses%2Fupdate.json&include_ent"))
    }

    @Test func leavesAJSONBodyOut() throws {
        let authorization = try #require(XAuthorization(#"OAuth oauth_token="t""#))
        let request = WireRequest(
            method: "POST", target: "/2/tweets",
            headers: [("content-type", "application/json; charset=utf-8")],
            body: Array("a=b".utf8))
        #expect(XSignature(request, authorization: authorization).parameterText == "oauth_token=t")
    }

    @Test(arguments: [
        nil, "", "Bearer x", "OAuth a=b", "OAuth a", #"OAuth a="%ZZ""#, #"OAuth a="b", c"#,
    ])
    func readsNoOtherHeader(header: String?) {
        #expect(XAuthorization(header) == nil)
    }
}

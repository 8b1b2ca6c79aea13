import Expectations
import Foundation
import Posts
import TestSupport
import Testing

@testable import Networks
@testable import X

@Suite struct XSignerTests {
    /// What goes into a signature, and what has to come out.
    struct Vector: Sendable, CustomTestStringConvertible {
        var name: String
        var method = "POST"
        var url: String
        var parameters: [Pair] = []
        var extra: [Pair] = []
        var key: String
        var secret: String
        var token: String?
        var tokenSecret: String?
        var timestamp: Int64
        var nonce: String
        var sendsVersion = false
        var signature: String

        var testDescription: String { name }

        var signer: OAuthSigner {
            OAuthSigner(
                consumerKey: key, consumerSecret: Secret(secret), token: token.map(Secret.init),
                tokenSecret: tokenSecret.map(Secret.init), sendsVersion: sendsVersion)
        }

        var request: OAuthSigner.Request {
            OAuthSigner.Request(
                method: method, url: url, parameters: parameters.map { ($0.name, $0.value) },
                extra: extra.map { ($0.name, $0.value) }, nonce: nonce, timestamp: timestamp)
        }
    }

    struct Pair: Sendable {
        var name: String
        var value: String

        init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The example of X's own documentation.
    private static func documented(_ url: String, _ signature: String) -> Vector {
        Vector(
            name: url, url: url,
            parameters: [
                Pair("include_entities", "true"),
                Pair("status", "Hello Ladies + Gentlemen, a signed OAuth request!"),
            ], key: "xvz1evFS4wEEPTGEFPHBog", secret: "kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw",
            token: "370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb",
            tokenSecret: "LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE", timestamp: 1_318_622_958,
            nonce: "kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg", sendsVersion: true,
            signature: signature)
    }

    /// A request to the host of RFC 5849, section 1.2.
    private static func photos(
        _ method: String, _ path: String, parameters: [Pair] = [], extra: [Pair] = [],
        token: (String, String)?,
        timestamp: Int64, nonce: String, _ signature: String
    ) -> Vector {
        Vector(
            name: path, method: method, url: "https://photos.example.net\(path)",
            parameters: parameters, extra: extra,
            key: "dpf43f3p2l4k3l03", secret: "kd94hf93k423kf44", token: token?.0,
            tokenSecret: token?.1,
            timestamp: timestamp, nonce: nonce, signature: signature)
    }

    /// A request in the form of version 2.
    private static func current(
        _ method: String, _ path: String, _ parameters: [Pair], _ signature: String
    ) -> Vector {
        Vector(
            name: path, method: method, url: "https://api.x.com\(path)", parameters: parameters,
            key: "ck",
            secret: "cs", token: "42-at", tokenSecret: "ats", timestamp: 1_700_000_000,
            nonce: "abc123",
            sendsVersion: true, signature: signature)
    }

    private static let initiate = photos(
        "POST", "/initiate", extra: [Pair("oauth_callback", "http://printer.example.com/ready")],
        token: nil,
        timestamp: 137_131_200, nonce: "wIjqoS", "74KNZJeDHnMBp0EMJ9ZHt/XKycU=")

    private static let photo: Vector = {
        var vector = photos(
            "GET", "/photos", parameters: [Pair("file", "vacation.jpg"), Pair("size", "original")],
            token: ("nnch734d00sl2jdk", "pfkkdhi9sl3r4s00"), timestamp: 137_131_202,
            nonce: "chapoH",
            "MdpQcU8iPSUjWoN/UDMsK2sui9I=")
        vector.url = "http://photos.example.net/photos"
        return vector
    }()

    private static let timeline = current(
        "GET", "/2/users/42/tweets",
        [
            Pair("exclude", "retweets"), Pair("max_results", "100"),
            Pair("tweet.fields", "created_at,entities,in_reply_to_user_id"),
        ], "oaUJbtzulDcyqExEWJOWbA16dzs=")

    private static let sorting = Vector(
        name: "RFC 5849, section 3.4.1", url: "http://example.com/request",
        parameters: [
            Pair("b5", "=%3D"), Pair("a3", "a"), Pair("c@", ""), Pair("a2", "r b"), Pair("c2", ""),
            Pair("a3", "2 q"),
        ], key: "9djdj82h48djs9d2", secret: "j49sk3j29djd", token: "kkk9d7dh3k39sjv7",
        tokenSecret: "dh893hdasih9",
        timestamp: 137_131_201, nonce: "7d8f3e4a", signature: "r6/TJjbCOr97/+UU0NsvSne7s5g=")

    private static let vectors = [
        documented("https://api.x.com/1.1/statuses/update.json", "Ls93hJiZbQ3akF3HF3x1Bz8/zU4="),
        documented(
            "https://api.twitter.com/1.1/statuses/update.json", "hCtSmYh+iHYCEqBWrE7C7hYmtUk="),
        documented(
            "https://api.twitter.com/1/statuses/update.json", "tnnArxj06cWHq44gCs1OSKk/jLY="),
        initiate,
        photos(
            "POST", "/token", extra: [Pair("oauth_verifier", "hfdp7dh39dks9884")],
            token: ("hh5s93j4hdidpola", "hdhd0244k9j7ao03"), timestamp: 137_131_201,
            nonce: "walatlh",
            "gKgrFCywp7rO0OXSjdot/IHF7IU="),
        photo, sorting,
        current("POST", "/2/tweets", [], "huKdDGu9XVMpPERb3Ssm2Gnz2cc="), timeline,
        current(
            "GET", "/2/tweets/search/recent", [Pair("query", "日本語 ~*")],
            "6T/llpt4mKaitLoLYC+NvWkkTwI="),
    ]

    @Test(arguments: vectors)
    func signsAsOthersDo(vector: Vector) {
        #expect(vector.signer.signature(of: vector.request) == vector.signature)
    }

    @Test func joinsParametersAsDocumented() {
        let vector = Self.vectors[0]
        #expect(
            vector.signer.parameterString(of: vector.request)
                == "include_entities=true&oauth_consumer_key=xvz1evFS4wEEPTGEFPHBog"
                + "&oauth_nonce=kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg&oauth_signature_method=HMAC-SHA1"
                + "&oauth_timestamp=1318622958&oauth_token=370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb"
                + "&oauth_version=1.0&status=Hello%20Ladies%20%2B%20Gentlemen%2C%20a%20signed%20OAuth%20request%21"
        )
        let base = vector.signer.baseString(of: vector.request)
        #expect(
            base
                == "POST&https%3A%2F%2Fapi.x.com%2F1.1%2Fstatuses%2Fupdate.json&include_entities%3Dtrue"
                + "%26oauth_consumer_key%3Dxvz1evFS4wEEPTGEFPHBog"
                + "%26oauth_nonce%3DkYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg"
                + "%26oauth_signature_method%3DHMAC-SHA1%26oauth_timestamp%3D1318622958"
                + "%26oauth_token%3D370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb%26oauth_version%3D1.0"
                + "%26status%3DHello%2520Ladies%2520%252B%2520Gentlemen%252C%2520a%2520signed%2520OAuth%2520request"
                + "%2521")
        #expect(base.utf8.count == 446)
    }

    @Test func repeatedNamesAreSortedByTheirValues() {
        #expect(
            Self.sorting.signer.parameterString(of: Self.sorting.request)
                == "a2=r%20b&a3=2%20q&a3=a&b5=%3D%253D&c%40=&c2=&oauth_consumer_key=9djdj82h48djs9d2"
                + "&oauth_nonce=7d8f3e4a&oauth_signature_method=HMAC-SHA1&oauth_timestamp=137131201"
                + "&oauth_token=kkk9d7dh3k39sjv7")
    }

    @Test func baseStringsAreAsPublished() {
        #expect(
            Self.initiate.signer.baseString(of: Self.initiate.request)
                == "POST&https%3A%2F%2Fphotos.example.net%2Finitiate"
                + "&oauth_callback%3Dhttp%253A%252F%252Fprinter.example.com%252Fready"
                + "%26oauth_consumer_key%3Ddpf43f3p2l4k3l03%26oauth_nonce%3DwIjqoS"
                + "%26oauth_signature_method%3DHMAC-SHA1%26oauth_timestamp%3D137131200")
        #expect(
            Self.photo.signer.baseString(of: Self.photo.request)
                == "GET&http%3A%2F%2Fphotos.example.net%2Fphotos&file%3Dvacation.jpg"
                + "%26oauth_consumer_key%3Ddpf43f3p2l4k3l03%26oauth_nonce%3DchapoH"
                + "%26oauth_signature_method%3DHMAC-SHA1%26oauth_timestamp%3D137131202"
                + "%26oauth_token%3Dnnch734d00sl2jdk%26size%3Doriginal")
        #expect(
            Self.timeline.signer.baseString(of: Self.timeline.request)
                .hasSuffix("%26tweet.fields%3Dcreated_at%252Centities%252Cin_reply_to_user_id"))
        let plain = Self.vectors[7]
        #expect(
            plain.signer.baseString(of: plain.request)
                == "POST&https%3A%2F%2Fapi.x.com%2F2%2Ftweets&oauth_consumer_key%3Dck%26oauth_nonce%3Dabc123"
                + "%26oauth_signature_method%3DHMAC-SHA1%26oauth_timestamp%3D1700000000%26oauth_token%3D42-at"
                + "%26oauth_version%3D1.0")
    }

    @Test(arguments: [
        ("HTTPS://API.X.com:443/2/Tweets", "https://api.x.com/2/Tweets"),
        ("http://LocalHost:80/a", "http://localhost/a"),
        ("http://localhost:8080/a", "http://localhost:8080/a"),
        ("https://api.x.com:80/a", "https://api.x.com:80/a"),
        ("https://api.x.com", "https://api.x.com/"),
        ("https://api.x.com/a?b=c#d", "https://api.x.com/a"),
        ("https://api.x.com?b=c", "https://api.x.com/"),
    ])
    func theAddressIsSignedInItsPlainForm(url: String, expected: String) {
        #expect(OAuthSigner.baseURL(url) == expected)
    }

    @Test(arguments: [
        ("Ladies + Gentlemen", "Ladies%20%2B%20Gentlemen"),
        ("An encoded string!", "An%20encoded%20string%21"),
        ("Dogs, Cats & Mice", "Dogs%2C%20Cats%20%26%20Mice"), ("☃", "%E2%98%83"),
        ("aZ09-._~", "aZ09-._~"),
        ("*'()/=%", "%2A%27%28%29%2F%3D%25"), ("日本語 ~*", "%E6%97%A5%E6%9C%AC%E8%AA%9E%20~%2A"),
        ("", ""),
    ])
    func encodesAsTheProtocolDemands(text: String, expected: String) {
        #expect(PercentEncoding.encoded(text) == expected)
    }

    @Test func theHeaderHoldsSevenPairs() throws {
        let vector = Self.vectors[7]
        let header = vector.signer.authorization(for: vector.request)
        #expect(header.hasPrefix("OAuth "))
        #expect(
            header.dropFirst(6).components(separatedBy: ", ") == [
                #"oauth_consumer_key="ck""#, #"oauth_nonce="abc123""#,
                #"oauth_signature="huKdDGu9XVMpPERb3Ssm2Gnz2cc%3D""#,
                #"oauth_signature_method="HMAC-SHA1""#,
                #"oauth_timestamp="1700000000""#, #"oauth_token="42-at""#, #"oauth_version="1.0""#,
            ])
    }

    @Test func everyRequestHasANonceOfItsOwn() {
        let nonces = (0..<50).map { _ in OAuthSigner.nonce() }
        #expect(Set(nonces).count == 50)
        expect(nonces) { $0.allSatisfy { $0.utf8.count == 64 && $0.allSatisfy(\.isHexDigit) } }
    }
}

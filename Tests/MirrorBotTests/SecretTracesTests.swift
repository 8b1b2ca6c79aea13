import Expectations
import Foundation
import Testing

/// The search for secrets finds them: what says "nothing was found" must be able to find.
@Suite struct SecretTracesTests {
    private static let secret = PlantedSecret(name: "token", value: "Qw7xRt9pLm2k/Zb5+Tg8yHn3vC=")
    private static let key = PlantedSecret(
        name: "key", value: String(repeating: "0a1b2c3d4e5f6978", count: 4))

    @Test(arguments: [
        "Qw7xRt9pLm2k/Zb5+Tg8yHn3vC=", "said Qw7xRt9p… and more", "the end is 8yHn3vC=",
        "QW7XRT9PLM2K", "qw7xrt9p",
        "%51%77%37%78%52%74%39%70", "5177377852743970", "Qw7xRt9pLm2k%2FZb5%2BTg8yHn3vC%3D",
        "Qw7xRt9pLm2k\\/Zb5+Tg8yHn3vC=", "Q\u{0}w\u{0}7\u{0}x\u{0}R\u{0}t\u{0}9\u{0}p\u{0}",
    ]) func findsEachForm(text: String) {
        #expect(!SecretTraces(of: [Self.secret]).search(Data("before \(text) after".utf8)).isEmpty)
    }

    @Test(arguments: 0..<3) func findsBase64WhereverItBegins(offset: Int) {
        let text = Data((String(repeating: "u", count: offset) + Self.secret.value).utf8)
            .base64EncodedString()
        #expect(!SecretTraces(of: [Self.secret]).search(Data("Basic \(text)".utf8)).isEmpty)
        let forURLs = text.replacing("+", with: "-").replacing("/", with: "_")
        #expect(!SecretTraces(of: [Self.secret]).search(Data(forURLs.utf8)).isEmpty)
    }

    @Test func findsTheBytesOfAKeyOfDigits() {
        let bytes: [UInt8] = [0x0A, 0x1B, 0x2C, 0x3D, 0x4E, 0x5F, 0x69, 0x78]
        let key = Data((0..<4).flatMap { _ in bytes })
        #expect(!SecretTraces(of: [Self.key]).search(Data([1, 2, 3]) + key + Data([4])).isEmpty)
    }

    @Test(arguments: ["", "nothing of it", "Qw7xRt9", "Qw7x Rt9pLm2", "cXc3eFJ0OX"])
    func findsNothingElse(text: String) {
        #expect(SecretTraces(of: [Self.secret, Self.key]).search(Data(text.utf8)).isEmpty)
    }

    @Test func findsWhatIsInRedisWhateverItsType() async throws {
        let stage = try SecretStage()
        let servers = try await PlantedServers(stage.book)
        for (number, command) in [
            ["SET"], ["HSET", "field"], ["SADD"], ["RPUSH"], ["ZADD", "1"], ["XADD", "*", "field"],
        ]
        .enumerated() {
            let secret = stage.book.plant("token \(number)")
            try await servers.tellRedis(
                [command[0], "key \(number)"] + command.dropFirst() + [secret])
        }
        // A field may be one too.
        try await servers.tellRedis(["HSET", "key 9", stage.book.plant("token 6"), "1"])
        try await servers.keepContents(in: stage)
        let found = try stage.findings()
        for number in 0...6 {
            expect(found) {
                $0.contains { $0.hasPrefix("token \(number) ") && $0.contains(" in Redis:") }
            }
        }
    }

    @Test func freshSecretsDiffer() {
        let values = Set((0..<100).map { _ in PlantedSecret.fresh("token").value.prefix(8) })
        #expect(values.count == 100)
    }
}

import Foundation
import Outbox
import Posts
import Storage
import TestSupport
import Testing

@Suite struct ActionReasonTests {
    @Test func codesAreKebabCase() {
        for reason in Action.Reason.allCases {
            let code = ReasonCode.outbox(reason)
            #expect(code.rawValue.allSatisfy { $0.isASCII && $0.isLowercase || $0 == "-" })
            #expect(Action.Reason(rawValue: code.rawValue) == reason)
        }
    }

    /// A program of another version may have stored it, and a later one may read it again.
    @Test func aCodeThatIsUnknownHereIsKeptAsItWasStored() async throws {
        let outbox = try await OutboxFixture()
        let intent = Intent(
            .reply(OutboxFixture.answer("a")), state: .skipped, due: OutboxFixture.start,
            expires: OutboxFixture.start + 60, reason: "of-the-future")
        let stored = try await outbox.store.propose(intent, now: OutboxFixture.start).action
        #expect(stored.reason == "of-the-future")
        let read = try #require(try await outbox.store.action(.reply, subject: "a"))
        #expect(read.reason == "of-the-future")
        #expect(Action.Reason(rawValue: "of-the-future") == nil)
    }

    @Test func aCodeIsATextInJSON() throws {
        let json = Data(#"["too-late"]"#.utf8)
        let codes = try JSONDecoder().decode([ReasonCode].self, from: json)
        #expect(codes == [.outbox(.tooLate)])
        try #expect(JSONEncoder().encode(codes) == json)
    }
}

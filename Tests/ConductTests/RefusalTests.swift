import Conduct
import Expectations
import Testing

@Suite struct RefusalTests {
    @Test func codesAreKebabCaseAndSentencesArePlain() {
        for reason in Refusal.Reason.allCases {
            expect(reason.rawValue) { $0.allSatisfy { $0.isASCII && $0.isLowercase || $0 == "-" } }
            let refusal = Refusal(reason)
            #expect(refusal.code == reason.rawValue)
            #expect(refusal.message.count > 15)
            #expect(refusal.message.last != ".")
            #expect("\(refusal)" == refusal.message)
        }
        #expect(Set(Refusal.Reason.allCases.map(\.sentence)).count == Refusal.Reason.allCases.count)
    }
}

import Expectations
import Foundation
import TestSupport
import Testing

@testable import Web

/// Every page in every state as Chromium shows it; `make check-pages` asks for it.
///
/// In English and in Japanese: layout at 320, 360, 768 and 1280 px, with all details open, wide
/// spacing and large text; axe-core; markup; the console; and pictures for a person. In English
/// both themes and longer labels besides.
@Suite(.enabled(if: BrowserVisit.python != nil), .timeLimit(.minutes(30)), .serialized)
struct StatesInBrowserTests {
    @Test(arguments: PageState.all) func aPageIsAsItMustBe(_ state: PageState) async throws {
        let (stand, pages) = try await state.start()
        do {
            let task = BrowserVisit.Task(
                what: "look", state: state.name, port: stand.client.port, password: state.password,
                isDeep: state.isDeep, pages: pages)
            for violation in try await BrowserVisit.run(task) { Issue.record("\(violation)") }
        } catch {
            await stand.stop()
            throw error
        }
        await stand.stop()
    }
}

import Testing

@testable import Control
@testable import MirrorBot
@testable import Mirroring

@Suite struct ProgressViewTests {
    private static let steps: [TrainingProgress.Step] = [.posts, .favorites, .home, .archive]

    @Test(arguments: [39, 40, 59, 79, 99, 250]) func fitsTheTerminalAndHasABar(columns: Int) {
        for step in Self.steps {
            for done in [0, 1, 800, 3_199, 3_200] {
                let line = ProgressView.line(
                    .init(step: step, done: done, total: 3_200), columns: columns)
                #expect(Printable.width(line) <= columns, "\(line)")
                #expect(line.contains("░") == (done < 3_200), "\(line)")
                #expect(line.contains("█") == (done >= 800), "\(line)")
                #expect(line.hasPrefix("reading "))
            }
        }
    }

    @Test func saysAllOfItWhereThereIsRoom() {
        let line = ProgressView.line(.init(step: .posts, done: 800, total: 3_200), columns: 79)
        #expect(line == "reading posts ███████░░░░░░░░░░░░░░░░░░░░░░░ 800 of at most 3200")
        #expect(
            ProgressView.line(.init(step: .home, done: 800, total: 3_200), columns: 39)
                == "reading the home timeline ██░░░░░░░ 800")
    }

    @Test func withoutATotalOrRoomThereIsNoBar() {
        #expect(
            ProgressView.line(.init(step: .archive, done: 7, total: nil), columns: 79)
                == "reading the archive 7")
        #expect(
            ProgressView.line(.init(step: .home, done: 7, total: 9), columns: 19)
                == "reading the home t…")
    }
}

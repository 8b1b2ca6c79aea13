import ArgumentParser
import Control
import Foundation

/// The options of commands that print a list page by page, except the page length.
struct PageOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Continue here: the value of next in the JSON of the page before.", valueName: "place")
    )
    var after: String?

    @Flag(help: "Print JSON.")
    var json = false
}

/// The options of commands that list things page by page.
struct ListOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Maximum to show.", valueName: "number"))
    var limit = 20

    @OptionGroup var page: PageOptions

    var after: String? { page.after }
    var json: Bool { page.json }

    func validate() throws {
        guard (1...10_000).contains(limit) else {
            throw ValidationError("--limit is \(limit); expected a number from 1 to 10000")
        }
    }

    /// Prints how to show the next page, if there is one.
    static func tell(next: String?) {
        guard let next else { return }
        let cursor = Printable.line(next)
        print("and more: --after \(cursor.contains(" ") ? "\"\(cursor)\"" : cursor)")
    }
}

extension Array<String> {
    /// The words as one search text, separated by spaces; nil if there are none.
    var searchWords: String? { isEmpty ? nil : joined(separator: " ") }
}

extension PersonTime {
    /// The instant of `--since`.
    ///
    /// - Throws: `ValidationError` for an invalid value.
    func since(_ text: String, now: Date) throws -> Date {
        guard let start = pastInstant(text, now: now) else {
            throw ValidationError(
                "--since is \"\(text)\"; expected a time such as 18:30, 2026-11-24, \"2026-11-24 18:30\" or 6h"
            )
        }
        return start
    }
}

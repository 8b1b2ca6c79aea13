import Foundation
import NetworkNames
import Posts
import TestSupport
import Testing

@testable import Web

/// Opens every link and presses every button of every page in every state: none leads to an error,
/// nothing that a page offers is refused, and commands and settings stand in it as code alone.
///
/// Links and buttons that differ by their rows alone are tried twice.
@Suite(.timeLimit(.minutes(30)), .serialized) struct CrawlTests {
    // Nobody listens there: whatever is asked of a network fails at once.
    private static let nowhere = [
        "BOT_SERVER": "http://127.0.0.1:9", "HUMAN_SERVER": "http://127.0.0.1:9",
    ]

    @Test(arguments: Place.pressed) func everyLinkAndButtonDoesWhatItOffers(_ place: Place)
        async throws
    {
        let state = place.state
        let (stand, pages) = try await state.start(
            besides: Self.nowhere.merging(place.account) { $1 })
        do {
            let client = stand.client
            if let password = state.password {
                let answer = try await client.send("/login", form: [("password", password)])
                #expect(answer.status == 303)
            }
            var crawl = Crawl(client)
            try await crawl.walk(from: pages.filter { $0.status == 200 }.map(\.path))
            #expect(crawl.faults.isEmpty)
            #expect(crawl.terminalWords.isEmpty)
            // Or a template that changed is not read any more.
            #expect(crawl.opened >= pages.count { $0.status == 200 })
            #expect(crawl.pressed > 0 || state.isReadOnly || state.mirrors.isEmpty)
        } catch {
            await stand.stop()
            throw error
        }
        await stand.stop()
    }

    /// A state on a network.
    struct Place: Sendable, CustomTestStringConvertible {
        let network: NetworkName
        let state: PageState
        /// Settings of the bot's account; none for a state that has its own.
        let account: [String: String]

        var testDescription: String { "\(state.name) on \(network.displayName)" }

        /// Each state on each network; those that name a network, on that one alone.
        static let all: [Place] = PageState.all.flatMap { state -> [Place] in
            let named = state.variables["BOT_NETWORK"].flatMap(NetworkName.init(rawValue:))
            if let named { return [Place(network: named, state: state, account: [:])] }
            // The list of ten thousand mirrors takes long, and is the same on all.
            let networks = state.name == "many" ? [.mastodon] : NetworkName.known
            return networks.map { network in
                let account = NetworkSentencesTests.accounts[network] ?? [:]
                return Place(network: network, state: state, account: account)
            }
        }

        /// Those whose pages are there, and are more than one: each state once, and on each network
        /// those that show most and change nothing.
        static let pressed = all.filter { place in
            let isOne = place.network == .mastodon || place.account.isEmpty
            return !["many", "locked", "database-away"].contains(place.state.name)
                && (isOne || ["whole", "read-only"].contains(place.state.name))
        }
    }

    /// Pages that speak of the mirror alone; People and Settings name every network.
    private static let ofMirror = [
        "", "/waiting", "/actions", "/hours", "/favorites", "/texts", "/health", "/week",
        "/week/review",
    ]

    /// Also where something is refused, or is not there; and no page speaks of another network.
    @Test(arguments: Place.all) func commandsAndSettingsAreCode(_ place: Place) async throws {
        let (stand, pages) = try await place.state.start(
            besides: Self.nowhere.merging(place.account) { $1 })
        do {
            if let password = place.state.password {
                _ = try await stand.client.send("/login", form: [("password", password)])
            }
            // The human is on Mastodon in all of them.
            let others = NetworkName.known.filter { ![place.network, .mastodon].contains($0) }
            for page in pages {
                let answer = try await stand.client.send(page.path)
                // A text that fits Mastodon may not fit another network; the page says so.
                let mayNotFit =
                    place.state.isHostile && place.network != .mastodon
                    && page.path.hasPrefix("/m/mika/confirm/post?")
                if !mayNotFit || answer.status != 409 {
                    #expect(answer.status == page.status, "\(page.path)")
                }
                #expect(TerminalWords(html: answer.body).found == [], "\(page.path)")
                // What others wrote may name any network.
                guard !place.state.isHostile, page.path.hasPrefix("/m/mika"),
                    Self.ofMirror.contains(String(page.path.dropFirst("/m/mika".count)))
                else { continue }
                let words = Self.words(answer)
                for other in others {
                    let isNamed = words.contains(other.displayName)
                    #expect(!isNamed, "\(page.path): \(other.displayName)")
                }
            }
        } catch {
            await stand.stop()
            throw error
        }
        await stand.stop()
    }

    /// The words of a page, without those of people.
    private static func words(_ page: WebClient.Answer) -> Set<String> {
        let own = page.body.replacingOccurrences(
            of: "<bdi[^>]*>.*?</bdi>|<[^>]*>", with: " ", options: .regularExpression)
        return Set(own.split { !$0.isLetter && !$0.isNumber }.map(String.init))
    }

    @Test func wordsOfATerminalAreFound() {
        let words = TerminalWords(
            html: """
                <p title="LINKS">run mirror-bot plan <b>--date</b> or <code>mirror-bot run</code>, says mirror-bot</p>
                <title>mirror-bot</title><p>runs; QUIET_HOURS, <code>LINKS</code>, NOBODY &amp; a--b</p>
                """)
        #expect(words.found == ["mirror-bot plan", "--date", "QUIET_HOURS"])
    }

    @Test func aPageIsReadAsAPersonReadsIt() {
        let page = CrawledPage(
            """
            <a href="/m/a?x=1&amp;y=2#z">one</a><a href="https://far.example">two</a>
            <form method="get" action="/set"><input type="hidden" name="name" value="A"><select name="v"><option value="1">
            <option value="2" selected></select><button>Set…</button></form>
            <form method="post" action="/do"><input type="checkbox" name="id" value="7"><input name="time">
            <input id="sure" name="sure"><label for="sure">Type it to say yes: @a</label>
            <button name="all" value="yes">Do<span> it</span></button><button formaction="/other">Not</button></form>
            <form method="post" action="/what"><input name="something"><button>Say</button></form>
            """)
        #expect(page.links == ["/m/a?x=1&y=2"])
        let presses = page.presses.map { press in
            "\(press.isPost ? "POST" : "GET") \(press.path) \(press.fields.map { "\($0.0)=\($0.1)" }) \(press.label)"
        }
        #expect(
            presses == [
                #"GET /set ["name=A", "v=2"] Set…"#,
                #"POST /do ["id=7", "time=23:17", "sure=@a", "all=yes"] Do it"#,
                #"POST /other ["id=7", "time=23:17", "sure=@a"] Not"#,
            ])
    }
}

/// A walk along links and through buttons.
///
/// All links are followed before the first button is pressed: what is pressed may take away what a
/// link leads to.
private struct Crawl {
    /// How often links and buttons of one kind are tried.
    private static let most = 2
    /// Buttons that need what no page shows: who was forgotten is known by a digest alone.
    private static let untried = ["do=readmit"]
    /// What leaves little to press afterwards, and is tried at the end.
    private static let final = ["/undo/everything", "/retire", "/forget"]

    /// A path, and the place where its link stands.
    private struct Link {
        let path: String
        let place: String
    }

    private let client: WebClient
    private var waiting: [Link] = []
    private var links: [String: Int] = [:]
    private var buttons: [String: Int] = [:]
    private var isFinal = false
    /// What went wrong, in words.
    private(set) var faults: [String] = []
    /// Commands, options and settings outside of code, and the pages that have them.
    private(set) var terminalWords: [String: Set<String>] = [:]
    private(set) var opened = 0
    private(set) var pressed = 0

    init(_ client: WebClient) { self.client = client }

    mutating func walk(from pages: [String]) async throws {
        for page in pages { note(Link(path: page, place: "the address line")) }
        let all = try await followAll()
        for isFinal in [false, true] {
            self.isFinal = isFinal
            for path in all { try await pressAll(on: path) }
        }
    }

    /// Opens what waits, and what that leads to.
    ///
    /// - Returns: The pages.
    @discardableResult
    private mutating func followAll() async throws -> [String] {
        var pages: [String] = []
        while let link = waiting.popLast() {
            guard let page = try await open(link) else { continue }
            pages.append(link.path)
            follow(page, from: link.path)
        }
        return pages
    }

    /// Presses the buttons of a page, each on the page as it is then.
    private mutating func pressAll(on path: String) async throws {
        while true {
            let answer = try await client.send(path)
            // What was pressed elsewhere may have taken it away.
            guard answer.status == 200 else { return }
            guard let press = CrawledPage(answer.body).presses.first(where: { isToBePressed($0) })
            else { return }
            try await self.press(press, on: path)
            try await followAll()
        }
    }

    /// - Returns: The page; nil for what is no page, and for a fault.
    private mutating func open(_ link: Link) async throws -> CrawledPage? {
        let answer = try await client.send(link.path)
        opened += 1
        if answer.status == 303, let next = answer["Location"] {
            note(Link(path: next, place: link.path))
            return nil
        }
        guard answer.status == 200 else {
            faults.append("\(link.path), from \(link.place): \(Self.told(answer))")
            return nil
        }
        guard answer["Content-Type"]?.hasPrefix("text/html") == true else { return nil }
        noteWords(of: answer, at: link.path)
        return CrawledPage(answer.body)
    }

    private mutating func noteWords(of answer: WebClient.Answer, at place: String) {
        for word in TerminalWords(html: answer.body).found {
            terminalWords[word, default: []].insert(place)
        }
    }

    private mutating func note(_ link: Link) {
        let kind = Self.kind(link.path)
        guard links[kind, default: 0] < Self.most else { return }
        links[kind, default: 0] += 1
        waiting.append(link)
    }

    private mutating func follow(_ page: CrawledPage, from place: String) {
        for path in page.links { note(Link(path: path, place: place)) }
    }

    private func isToBePressed(_ press: CrawledPage.Press) -> Bool {
        buttons[Self.kind(press), default: 0] < Self.most && press.path != "/logout"
            && (isFinal || !Self.final.contains { press.path.hasSuffix($0) })
            && !press.fields.contains { Self.untried.contains("\($0.0)=\($0.1)") }
    }

    /// Presses a button, and those of the question that may follow.
    private mutating func press(_ press: CrawledPage.Press, on place: String) async throws {
        buttons[Self.kind(press), default: 0] += 1
        pressed += 1
        let answer: WebClient.Answer
        if press.isPost {
            answer = try await client.send(press.path, form: press.fields)
        } else {
            let query = press.fields.map { WebClient.encoded($0.0) + "=" + WebClient.encoded($0.1) }
            answer = try await client.send(press.path + "?" + query.joined(separator: "&"))
        }
        let here = "\(place) › \(press.label)"
        switch answer.status {
        case 200:
            noteWords(of: answer, at: here)
            let question = CrawledPage(answer.body)
            follow(question, from: here)
            // Before the answer takes away what they lead to.
            try await followAll()
            guard let next = question.presses.first(where: { isToBePressed($0) }) else { return }
            try await self.press(next, on: here)
        case 303:
            guard let next = answer["Location"] else {
                return faults.append("\(here): led nowhere")
            }
            if let page = try await open(Link(path: String(next.prefix { $0 != "#" }), place: here))
            {
                follow(page, from: here)
            }
        default: faults.append("\(here): \(Self.told(answer))")
        }
    }

    /// The status, and the sentence that a person is told.
    private static func told(_ answer: WebClient.Answer) -> String {
        let alert = answer.body.range(of: "role=\"alert\"").map {
            String(answer.body[$0.upperBound...].prefix(300))
        }
        let text = (alert ?? "").replacingOccurrences(
            of: "<[^>]*>", with: " ", options: .regularExpression)
        return "\(answer.status) \(text)"
    }

    /// What a link has in common with those of other rows: its path without names, and the names in
    /// its query.
    private static func kind(_ link: String) -> String {
        let parts = link.split(separator: "?", maxSplits: 1)
        let path = (parts.first ?? "").split(separator: "/").map { part in
            part.contains { $0.isNumber || $0 == "%" } ? "*" : String(part)
        }
        let names = parts.dropFirst().joined().split(separator: "&").map { $0.prefix { $0 != "=" } }
        return (path + names.map(String.init)).joined(separator: "/")
    }

    /// The same of a button; a choice of its own is part of it where it is a word.
    private static func kind(_ press: CrawledPage.Press) -> String {
        let last = press.fields.last.map { name, value in
            value.count < 12 && value.allSatisfy(\.isLetter) ? "\(name)=\(value)" : name
        }
        return kind(press.path) + " " + (last ?? "")
    }
}

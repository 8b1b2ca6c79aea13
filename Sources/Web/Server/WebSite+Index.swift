import Control
import Foundation
import Hummingbird
import Localization
import Mirroring
import Posts
import Settings

/// The list of all mirrors.
extension WebSite {
    /// The number of mirrors on a page.
    private static let mirrorsPerPage = 50

    /// Redirects with 303 to the mirror if there is only one; else lists all mirrors, or those that
    /// match a search.
    func index(_ request: Request, _ context: WebContext) async throws -> Response {
        guard let session = context.session else { throw WebProblem.foreignForm }
        return try await page(for: session, key: Self.pageKey(request)) {
            try await self.index(request, token: $0)
        }
    }

    private func index(_ request: Request, token: String) async throws -> PageAnswer {
        guard let query = WebFields(encoded: request.uri.query ?? "") else {
            throw WebProblem.badForm
        }
        let names = try await MirrorTable.names(in: installation.storage, limit: 2)
        if names.count == 1, let name = names.first, query.pairs.isEmpty {
            return .other(Self.seeOther(MirrorRequest.base(of: name)))
        }
        let access = try await access(token: token, request)
        let context: PageContext
        if names.isEmpty {
            context = ["isEmpty": true, "newName": .text(installation.namedMirror)]
        } else {
            var search = MirrorsStatus.Query(words: query.typed("q"))
            search.size = Self.mirrorsPerPage
            search.after = query["after"]
            search.areAsking = query["state"] == Self.asking
            if !search.areAsking {
                search.state = query["state"].flatMap(Health.Verdict.State.init)
            }
            let status = try await MirrorsStatus(of: installation, search, now: now)
            context = list(status, search)
        }
        let words = Words(zone: .gmt, now: now)
        var frame: PageContext = [
            "style": .text(WebAsset.style.address), "script": .text(WebAsset.script.address),
            "pageLanguage": .text(Language.current.rawValue),
            "theme": .text(access.theme?.rawValue), "isReadOnly": .flag(access.isReadOnly),
            "canLogOut": .flag(access.hasLogin), "canSetUp": .flag(!access.isReadOnly),
            "newName": .none,
            "token": .markup("<input type=\"hidden\" name=\"csrf\" value=\"\(access.csrf)\">"),
            "asOf": .markup(words.time(now, showing: words.clockWithSeconds(now))),
            "again": .text(request.uri.string),
            "version": .text(build.version), "band": .fields(band()),
        ]
        frame.merge(context) { _, new in new }
        return .page(CachedPage(TemplateLibrary.standard.render(.index, frame), tokenAt: token))
    }

    /// Creates a mirror to set up, and redirects to its first step.
    func makeMirror(_ context: WebContext) async throws -> Response {
        let name = context.form.typed("name") ?? installation.namedMirror
        guard MirrorSettings.isName(name) else {
            throw ChangeRefusal(
                .unusable,
                localized(
                    "a mirror cannot be called \"\(name.prefix(60))\"; expected \(MirrorSettings.nameForm)"
                )
            )
        }
        let mirror = try await installation.mirror(named: name, mayBeNew: true)
        try await mirror.table.add(now: mirror.clock.now)
        return Self.seeOther(MirrorRequest.base(of: name) + SetupPage.path)
    }

    /// The value of the filter for mirrors with items that wait for a person.
    private static let asking = "asking"

    private func list(_ status: MirrorsStatus, _ search: MirrorsStatus.Query) -> PageContext {
        let mirrorCount = status.states.values.reduce(0, +)
        let worst: Health.Verdict.State =
            [.failing, .unset, .hindered].first { status.count($0) > 0 } ?? .healthy
        let title = Self.title(status, of: mirrorCount)
        let states: [Health.Verdict.State] = [.healthy, .hindered, .paused, .unset]
        let counts = states.compactMap { state -> String? in
            let count = status.count(state)
            return count == 0 ? nil : state.words(for: count)
        }
        let nextPostSentence = status.nextSlot.map {
            localized("The next post comes \(Words(zone: .gmt, now: now).relative($0)).")
        }
        let list = Words.capitalized(counts.joined(by: .comma))
        let sentence = counts.isEmpty ? "" : localized("\(list). ")
        let currentFilter = search.areAsking ? Self.asking : search.state?.rawValue
        let tabs: [PageContext] =
            [tab(localized("All"), filter: nil, count: mirrorCount, current: currentFilter, search)]
            + Health.Verdict.State.byUrgency.compactMap { state in
                let count = status.count(state)
                return count == 0
                    ? nil
                    : tab(
                        state.words, filter: state.rawValue, count: count, current: currentFilter,
                        search, state)
            }
            + (status.asking == 0
                ? []
                : [
                    tab(
                        localized("wait for you"), filter: Self.asking, count: status.asking,
                        current: currentFilter, search)
                ])
        return [
            "state": .text(worst.rawValue), "title": .text(title),
            "summary": .text(sentence + (nextPostSentence ?? "")),
            "count": .text(Words.count(mirrorCount, "mirror")), "q": .text(search.words),
            "filter": .text(currentFilter), "tabs": .list(tabs),
            "groups": .list(groups(status)),
            "hasMirrors": .flag(!status.mirrors.isEmpty),
            "found": .text(
                status.total == 0
                    ? localized("None is found.")
                    : localized(
                        "\(Words.number(status.mirrors.count)) of \(Words.number(status.total))")),
            "next": .text(
                status.next.map {
                    "/"
                        + WebFields.query([
                            ("q", search.words), ("state", currentFilter), ("after", $0),
                        ])
                }),
            "nextWords": .text(localized("Next \(Self.mirrorsPerPage)")),
        ]
    }

    /// The sentence above the list, which reports the same state as ``MirrorsStatus/Check``.
    private static func title(_ status: MirrorsStatus, of mirrorCount: Int) -> String {
        let all = Words.number(mirrorCount)
        let idle = status.count(.failing) + status.count(.unset)
        guard idle == 0 else {
            let number = Words.number(idle)
            return localized(
                idle == 1 ? "\(number) of \(all) needs you." : "\(number) of \(all) need you.")
        }
        let hindered = status.count(.hindered)
        guard hindered == 0 else {
            let number = Words.number(hindered)
            return localized(
                hindered == 1
                    ? "\(number) of \(all) works in part." : "\(number) of \(all) work in part.")
        }
        let paused = status.count(.paused)
        if mirrorCount == 1 {
            return localized(paused == 1 ? "It pauses, as it was told." : "It does its work.")
        }
        if paused == mirrorCount { return localized("All \(all) pause, as they were told.") }
        return localized(
            paused > 0
                ? "All \(all) do their work, or pause as they were told."
                : "All \(all) do their work.")
    }

    private func tab(
        _ words: String, filter: String?, count: Int, current: String?,
        _ search: MirrorsStatus.Query,
        _ state: Health.Verdict.State? = nil
    ) -> PageContext {
        [
            "words": .text(words), "count": .number(count), "isCurrent": .flag(filter == current),
            "state": .text(state?.rawValue),
            "href": .text("/" + WebFields.query([("q", search.words), ("state", filter)])),
        ]
    }

    /// The listed mirrors; mirrors with the same reason are grouped under a heading.
    private func groups(_ status: MirrorsStatus) -> [PageContext] {
        let counts = Dictionary(
            (status.shared ?? []).map { ($0.text, $0.count) }, uniquingKeysWith: max)
        var groups: [(reason: String?, mirrors: [MirrorsStatus.Line])] = []
        for mirror in status.mirrors {
            let reason = mirror.reason.flatMap { counts[$0] == nil ? nil : $0 }
            if groups.isEmpty || groups[groups.count - 1].reason != reason {
                groups.append((reason, []))
            }
            groups[groups.count - 1].mirrors.append(mirror)
        }
        return groups.map { reason, mirrors in
            [
                "reason": .sentence(reason.map { Words.cut(Words.capitalized($0), to: 300) }),
                "number": .text(reason.flatMap { counts[$0] }.map { Words.count($0, "mirror") }),
                "mirrors": .list(mirrors.map { line($0, isGrouped: reason != nil) }),
            ]
        }
    }

    /// - Parameter isGrouped: Whether the verdict is in a heading above the mirror.
    private func line(_ mirror: MirrorsStatus.Line, isGrouped: Bool) -> PageContext {
        let nextPost =
            switch mirror.state {
            case .failing, .unset: nil as String?
            case .paused: localized("paused")
            case .healthy, .hindered:
                mirror.nextSlot.map { Words(zone: .gmt, now: now).relative($0) }
            }
        return [
            "name": .text(mirror.name), "href": .text(MirrorRequest.base(of: mirror.name)),
            "state": .text(mirror.state.rawValue), "stateWords": .text(mirror.state.words),
            "human": .account(mirror.human.map { "@\($0)" } ?? localized("no account")),
            "bot": .account(mirror.bot.map { "@\($0)" } ?? localized("not logged in")),
            "when": .text(nextPost ?? "–"),
            "text": .sentence(isGrouped ? nil : Words.cut(mirror.text, to: 300)),
            "badge": mirror.suggestions > 0 ? .number(mirror.suggestions) : .none,
            "badgeWords": .text(
                localized(mirror.suggestions == 1 ? "waits for you" : "wait for you")),
        ]
    }
}

extension MirrorsStatus {
    fileprivate func count(_ state: Health.Verdict.State) -> Int { states[state.rawValue] ?? 0 }
}

extension Health.Verdict.State {
    /// All states, the most urgent first.
    fileprivate static let byUrgency: [Health.Verdict.State] = [
        .failing, .unset, .hindered, .paused, .healthy,
    ]

    /// The state in words of the pages.
    var words: String {
        switch self {
        case .healthy: localized("healthy")
        case .paused: localized("paused")
        case .hindered: localized("works, but")
        case .unset: localized("not set up")
        case .failing: localized("failing")
        }
    }

    /// The number of mirrors in the state, as a part of a sentence.
    fileprivate func words(for count: Int) -> String {
        let number = Words.number(count)
        let isOne = count == 1
        return switch self {
        case .healthy: localized(isOne ? "\(number) is healthy" : "\(number) are healthy")
        case .hindered:
            localized(
                isOne
                    ? "\(number) works, but for a part" : "\(number) work, but for a part")
        case .paused: localized(isOne ? "\(number) pauses" : "\(number) pause")
        case .unset: localized(isOne ? "\(number) is not set up" : "\(number) are not set up")
        case .failing: localized(isOne ? "\(number) is failing" : "\(number) are failing")
        }
    }
}

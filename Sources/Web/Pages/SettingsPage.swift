import Control
import Foundation
import Localization
import Mirroring
import Posts
import Settings

/// The page with the mirror's settings, and with the time zones of the human's past.
enum SettingsPage: MirrorPage {
    static let section = PageSection.settings
    static let templates = [PageTemplate("settings")]
    static let liveParts = ["settings", "zones"]
    static let routes: [MirrorRoute] = [
        .get("/settings", page), .get("/settings/set", askToSet), .post("/settings", change),
        .get("/settings/zone", askAboutZone), .post("/zones", addZone),
        .post("/zones/remove", removeZone),
    ]

    /// The most settings on a page.
    private static let maximumRows = 24

    /// A tab of the page, which selects some of the settings.
    enum Tab: String, CaseIterable, Sendable {
        case often, set, all

        fileprivate var title: String {
            switch self {
            case .often: localized("Often changed")
            case .set: localized("Set")
            case .all: localized("All")
            }
        }
    }

    // MARK: Looking

    private static func page(_ request: MirrorRequest) async throws -> WebReply {
        let report = try await report(of: request.mirror)
        let zones =
            if let zone = request.zone {
                try await ZonesReport(of: request.mirror, home: zone)
            } else {
                ZonesReport(
                    timeZone: localized("\(Setting.timeZone.name), which nobody has set"), zones: []
                )
            }
        return .page(PageContent(templates[0], in: section, context(report, zones, of: request)))
    }

    /// Returns the settings as in `mirror-bot config`.
    ///
    /// If a stored value is invalid, the report has the values of the loaded configuration, and the
    /// problem.
    private static func report(of mirror: HumanMirror) async throws -> ConfigReport {
        let environment = ProcessInfo.processInfo.environment
        do {
            return ConfigReport(
                try await mirror.settingValues(), problems: [], environment: environment)
        } catch let error as ConfigurationError {
            return ConfigReport(
                mirror.configuration.values, problems: [error], environment: environment)
        }
    }

    static func context(_ report: ConfigReport, _ zones: ZonesReport, of request: MirrorRequest)
        -> PageContext
    {
        let allLines = report.groups.flatMap(\.settings)
        let isRefused = request.refusal != nil
        // After a refusal only the refused form is open, with the typed values.
        let isAboutZones =
            isRefused && ["/settings/zone", "/zones", "/zones/remove"].contains(request.path)
        let isZoneWrong =
            isAboutZones && typed("zone", request).flatMap { TimeZone(identifier: $0) } == nil
        let name = typed("name", request) ?? request.form.typed("unset")
        let tab = request.query["show"].flatMap(Tab.init(rawValue:)) ?? .often
        var shownLines = allLines.filter { line in
            if let name { return line.name == name }
            return switch tab {
            case .often: line.isOften
            case .set: line.isSet
            case .all: true
            }
        }
        if let after = request.query["after"],
            let index = shownLines.firstIndex(where: { $0.name == after })
        {
            shownLines.removeFirst(index + 1)
        }
        let hasMore = shownLines.count > maximumRows
        shownLines = Array(shownLines.prefix(maximumRows))
        let canChange = !request.access.isReadOnly
        let numbers: [Tab: Int] = [.set: allLines.count(where: \.isSet), .all: allLines.count]
        let groups = report.groups.map { group in
            (
                title: group.title,
                lines: group.settings.filter { line in
                    shownLines.contains { $0.name == line.name }
                }
            )
        }.filter { !$0.lines.isEmpty }
        return [
            "base": .text(request.base), "head": .text(head(allLines)),
            "tabs": .list(
                Tab.allCases.map { listedTab in
                    [
                        "href": .text(request.base + "/settings?show=\(listedTab.rawValue)"),
                        "name": .text(listedTab.title),
                        "isCurrent": .flag(listedTab == tab && name == nil),
                        "number": .text(numbers[listedTab].map { Words.number($0) }),
                    ]
                }),
            "problems": .sentences(report.problems),
            "retired": .list(
                report.retired.map { retired in
                    [
                        "name": .text(retired.name), "problem": .sentence(retired.problem),
                        "canChange": .flag(canChange),
                        "token": .markup(request.hidden(seen: retired.seen)),
                    ]
                }), "hasSettings": .flag(!shownLines.isEmpty),
            "nothing": .text(
                name.map { localized("There is no setting \(Words.cut($0, to: 60)).") }
                    ?? localized("Nothing is set.")),
            "groups": .list(
                groups.map { title, lines in
                    [
                        "title": .text(title),
                        "settings": .list(
                            lines.map { line in
                                row(
                                    line, canChange: canChange, isOpen: name != nil,
                                    wrong: isRefused && name != nil ? request.refusal?.text : nil,
                                    typed: isRefused ? typed("value", request) : nil, of: request)
                            }),
                    ]
                }),
            "more": .text(
                hasMore
                    ? request.base + "/settings"
                        + WebFields.query([
                            ("show", tab.rawValue), ("after", shownLines.last?.name),
                        ])
                    : nil),
            "hasZones": .flag(!zones.zones.isEmpty), "homeZone": .sentence(zones.timeZone),
            "zones": .list(
                zones.zones.map { line in
                    [
                        "days": .text(line.days), "zone": .text(line.timeZone),
                        "anyDay": .text(line.anyDay),
                        "canChange": .flag(canChange),
                    ]
                }),
            "canAddZone": .flag(canChange && request.zone != nil),
            "isZoneWrong": .flag(isZoneWrong), "isTimeWrong": .flag(isAboutZones && !isZoneWrong),
            "typedZone": .text(isRefused ? typed("zone", request) ?? "" : ""),
            "typedFrom": .text(isRefused ? typed("from", request) ?? "" : ""),
            "typedTo": .text(isRefused ? typed("to", request) ?? "" : ""),
            "canChangeLook": .flag(canChange), "plainToken": .markup(request.hidden()),
            "themes": .list(
                [
                    ("", localized("as the system")), ("light", localized("light")),
                    ("dark", localized("dark")),
                ].map { value, name in
                    [
                        "value": .text(value), "name": .text(name),
                        "isChosen": .flag(value == request.access.theme?.rawValue ?? ""),
                    ]
                }),
        ]
    }

    /// Returns what was typed into a field of the form or the query.
    private static func typed(_ field: String, _ request: MirrorRequest) -> String? {
        request.form.typed(field) ?? request.query.typed(field)
    }

    /// Counts the settings by origin, as `4 set here, 3 by the process, 41 at their defaults`.
    private static func head(_ allLines: [ConfigReport.Line]) -> String {
        let storedCount = allLines.count { $0.origin == .stored }
        let processCount = allLines.count { $0.isSet && $0.origin != .stored }
        let defaultCount = allLines.count - storedCount - processCount
        return localized(
            "\(storedCount) set here, \(processCount) by the process, \(defaultCount) at their defaults"
        )
    }

    private static func row(
        _ line: ConfigReport.Line, canChange: Bool, isOpen: Bool, wrong: String?, typed: String?,
        of request: MirrorRequest
    ) -> PageContext {
        let canChange = canChange && line.canBeStored && line.origin != .flag
        return [
            "name": .text(line.name), "title": .text(AnySetting.named(line.name)?.title),
            "summary": .sentence(line.summary), "value": .text(value(of: line)),
            "origin": .text(origin(of: line)), "problem": .sentence(line.problem),
            "canChange": .flag(canChange),
            "isOpen": .flag(isOpen),
            "form": .sentence(
                localized("New value of \(line.name): \(line.form)")),
            "field": .markup(field(line, typed ?? line.value ?? "", isWrong: wrong != nil)),
            "wrong": .sentence(wrong.map(Words.capitalized)),
            "canUnset": .flag(line.origin == .stored),
            "token": .markup(request.hidden(seen: line.seen)),
        ]
    }

    private static func value(of line: ConfigReport.Line) -> String {
        if line.isSecret { return localized(line.value == nil ? "not set" : "set, not shown") }
        return line.value.map { Words.cut($0, to: 200) } ?? localized("not set")
    }

    private static func origin(of line: ConfigReport.Line) -> String {
        let originWords =
            switch line.origin {
            case .flag: localized("by a flag of the command")
            case .stored: localized("set here")
            case .environment: localized("from the environment")
            case .file: localized("from a file")
            case .dotEnv, .homeDotEnv: localized("from .env")
            case .login: localized("by the login")
            case .implied: localized("follows from others")
            case .fallback: localized("default")
            case .unset: ""
            }
        let note =
            line.canBeStored && line.origin != .flag ? nil : localized("cannot be changed here")
        return [originWords.isEmpty ? nil : originWords, note].compactMap(\.self).joined(by: .comma)
    }

    /// The form control for the value of a setting.
    private static func field(_ line: ConfigReport.Line, _ value: String, isWrong: Bool) -> Markup {
        let errorAttributes: Markup =
            isWrong ? " aria-invalid=\"true\" aria-describedby=\"e-\(line.name)\" autofocus" : ""
        if let choices = line.choices {
            let options = choices.map { choice in
                "<option\(choice == value ? " selected" as Markup : "")>\(choice)</option>"
                    as Markup
            }
            return
                "<select id=\"v-\(line.name)\" name=\"value\"\(errorAttributes)>\(options)</select>"
        }
        if let least = line.least, let most = line.most {
            return """
                <input class="short" id="v-\(line.name)" name="value" type="number" min="\(least)" max="\(most)" \
                value="\(value)"\(errorAttributes)>
                """
        }
        return """
            <input id="v-\(line.name)" name="value" type="text" value="\(value)" spellcheck="false"\(errorAttributes)>
            """
    }

    // MARK: Settings

    private static func settingName(in fields: WebFields) throws -> String {
        guard let name = fields.typed("name") else {
            throw ChangeRefusal(.unusable, localized("no setting is named"))
        }
        return name
    }

    private static func askToSet(_ request: MirrorRequest) async throws -> WebReply {
        try await attempt(request) {
            let name = try settingName(in: request.query)
            guard let value = request.query.typed("value") else {
                throw ChangeRefusal(.unusable, localized("write a value"))
            }
            let forecast = try await SettingForecast(
                of: request.mirror, name, to: value, zone: request.zone, now: request.now)
            let sentences = forecast.sentences
            let title = AnySetting.named(name)?.title ?? name
            var question = Confirmation(
                in: section, localized("Set “\(title)” to \(Words.cut(value, to: 60))?"),
                action: "/settings", verb: localized("Set it"), otherWay: localized("Leave it"),
                back: "/settings")
            question.lead = sentences.first
            question.notes = Array(sentences.dropFirst())
            question.fields = [("name", name), ("value", value)]
            question.seen = forecast.seen
            question.isGrave = false
            return .confirm(question)
        }
    }

    private static func change(_ request: MirrorRequest) async throws -> WebReply {
        try await attempt(request) {
            if let name = request.form.typed("unset") {
                return try await request.perform(
                    UnsetValues([name]), backTo: "/settings", refusedBy: page
                ) { change in
                    guard change.changed.contains(name) else {
                        return Said(localized("Nothing to do: \(name) is not set here."))
                    }
                    return Said(
                        localized("\(name) is no longer set here."),
                        wayBack: undoButton(name, change, request))
                }
            }
            let name = try settingName(in: request.form)
            guard let value = request.form.typed("value") else {
                throw ChangeRefusal(.unusable, localized("write a value"))
            }
            let uptake = AnySetting.named(name)?.uptake.words
            return try await request.perform(
                SetValues([name: value]), backTo: "/settings", refusedBy: page
            ) { change in
                let shownValue = Words.cut(value, to: 60)
                return Said(
                    uptake.map { localized("\(name) is \(shownValue) now; taken up \($0).") }
                        ?? localized("\(name) is \(shownValue) now."),
                    wayBack: undoButton(name, change, request))
            }
        }
    }

    private static func undoButton(
        _ name: String, _ change: SettingsChange, _ request: MirrorRequest
    ) -> Said.Button? {
        let formerValue = (change.wayBack?.operation as? SetValues)?.values[name]
        let verb =
            formerValue.map { localized("Set \(Words.cut($0, to: 40)) again") }
            ?? localized("Use the default again")
        return request.button(verb, change.wayBack)
    }

    /// Runs the handler of a form, and shows an invalid value as wrong input.
    private static func attempt(
        _ request: MirrorRequest, _ body: () async throws -> WebReply
    ) async throws -> WebReply {
        try await request.attempt(refusedBy: page) {
            do {
                return try await body()
            } catch let error as ConfigurationError {
                throw ChangeRefusal(.unusable, error.description)
            }
        }
    }

    // MARK: Zones

    private static func askAboutZone(_ request: MirrorRequest) async throws -> WebReply {
        try await attempt(request) {
            let report = try await ZonesReport(of: request.mirror, home: try zone(request))
            if let day = request.query.typed("remove") {
                guard let line = report.zones.first(where: { $0.anyDay == day }) else {
                    throw ChangeRefusal(
                        .unknown, localized("no zone is noted for \(day.prefix(20))"))
                }
                let notedZone = AddZone(
                    zone: line.timeZone, from: line.from?.description, to: line.to?.description)
                let posts = try await notedZone.reach(at: request.desk).posts
                var question = Confirmation(
                    in: section, localized("Remove \(line.timeZone), \(line.days)?"),
                    action: "/zones/remove", verb: localized("Remove it"),
                    otherWay: localized("Keep it"), back: "/settings#zones")
                let number = Words.number(posts)
                question.lead =
                    posts == 1
                    ? localized(
                        "\(number) archived post of that time counts by \(report.timeZone) again.")
                    : localized(
                        "\(number) archived posts of that time count by \(report.timeZone) again.")
                question.fields = [("day", day)]
                question.seen = report.seen
                question.isGrave = false
                return .confirm(question)
            }
            let (name, from, to) = try typedZone(in: request.query)
            let (line, posts) = try await AddZone(zone: name, from: from, to: to).reach(
                at: request.desk)
            var question = Confirmation(
                in: section, localized("Note that the human lived by \(line.timeZone)?"),
                action: "/zones", verb: localized("Add it"), otherWay: localized("Do not"),
                back: "/settings#zones")
            let days = Words.capitalized(line.days)
            let number = Words.number(posts)
            question.lead =
                posts == 1
                ? localized("\(days): \(number) archived post of that time counts by that clock.")
                : localized("\(days): \(number) archived posts of that time count by that clock.")
            question.notes = [localized("The bot itself always posts by \(report.timeZone).")]
            question.fields =
                [("zone", name)] + (from.map { [("from", $0)] } ?? [])
                + (to.map { [("to", $0)] } ?? [])
            question.seen = report.seen
            question.isGrave = false
            return .confirm(question)
        }
    }

    private static func zone(_ request: MirrorRequest) throws -> TimeZone {
        guard let zone = request.zone else {
            throw ChangeRefusal(
                .notAllowed,
                localized("nobody has set \(Setting.timeZone.name) yet; set that first"))
        }
        return zone
    }

    /// The time zone of a form, and the first and the last day on which the human lived by it.
    private static func typedZone(in fields: WebFields) throws -> (
        zone: String, from: String?, to: String?
    ) {
        guard let zone = fields.typed("zone") else {
            throw ChangeRefusal(.unusable, localized("write a zone, such as Asia/Tokyo"))
        }
        let from = fields.typed("from")
        let to = fields.typed("to")
        guard from != nil || to != nil else {
            throw ChangeRefusal(
                .unusable,
                localized(
                    "write the first day, the last day or both; \(Setting.timeZone.name) is that of all other times"
                ))
        }
        return (zone, from, to)
    }

    private static func addZone(_ request: MirrorRequest) async throws -> WebReply {
        try await attempt(request) {
            let (zone, from, to) = try typedZone(in: request.form)
            let operation = AddZone(zone: zone, from: from, to: to)
            return try await request.perform(operation, backTo: "/settings#zones", refusedBy: page)
            { change in
                Said(
                    change.isNew
                        ? localized(
                            "Noted: \(change.change.timeZone), \(change.change.days). \(movedSentence(change.moved))"
                        )
                        : localized("That was noted already."),
                    wayBack: request.button(localized("Remove it again"), change.wayBack))
            }
        }
    }

    private static func removeZone(_ request: MirrorRequest) async throws -> WebReply {
        try await attempt(request) {
            guard let day = request.form.typed("day") else {
                throw ChangeRefusal(.unusable, localized("no time is named"))
            }
            let operation = RemoveZone(time: day)
            return try await request.perform(operation, backTo: "/settings#zones", refusedBy: page)
            { change in
                guard change.isNew else {
                    return Said(localized("Nothing is noted for \(day.prefix(20))."))
                }
                let line = change.change
                return Said(
                    localized(
                        "Removed: \(line.timeZone), \(line.days). \(movedSentence(change.moved))"),
                    wayBack: request.button(localized("Add it again"), change.wayBack))
            }
        }
    }

    private static func movedSentence(_ posts: Int) -> String {
        let number = Words.number(posts)
        return posts == 1
            ? localized("\(number) post has another hour now.")
            : localized("\(number) posts have another hour now.")
    }
}

extension ConfigReport.Line {
    /// Whether somebody has given the setting a value.
    fileprivate var isSet: Bool { ![.fallback, .unset, .implied].contains(origin) }
}

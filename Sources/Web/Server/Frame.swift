import Control
import Foundation
import Localization
import Mirroring
import Outbox
import Posts
import Settings

/// The frame of every page of a mirror: its owner, the links to the nine main pages, the verdict,
/// the result of the last operation, and the time.
struct Frame {
    /// The number of sections that a narrow screen shows; the others are in a menu.
    private static let mainSections = 4

    let context: PageContext

    /// - Parameters:
    ///   - content: The page.
    ///   - request: The request.
    ///   - said: The result of the last operation, with its undo button.
    ///   - isGet: Whether the page can be requested again.
    ///   - stamp: The digest of the mirror's change stamps, read before the data of the page.
    ///   - version: The program's version.
    /// - Throws: The store's error.
    init(
        _ content: PageContent, of request: MirrorRequest, said: Said?, isGet: Bool, stamp: String?,
        version: String
    ) async throws {
        let mirror = request.mirror
        let words = request.words
        let waiting = try await OutboxStore.waiting(
            of: [mirror.name], in: mirror.storage, now: request.now)
        let suggestions = waiting[mirror.name]?.suggestions ?? 0
        let strip =
            content.showsVerdict
            ? nil : Self.strip(try await mirror.health(now: request.now), request)
        let items = PageSection.allCases.map { section -> PageContext in
            [
                "title": .text(section.title), "href": .text(request.base + section.path),
                "isCurrent": .flag(section == content.section),
                "class": .text(Self.classes(of: section)),
                "badge": section == .waiting && suggestions > 0 ? .number(suggestions) : .none,
                "badgeWords": .text(localized(suggestions == 1 ? "waits for you" : "wait for you")),
            ]
        }
        let hiddenSections = PageSection.allCases.dropFirst(Self.mainSections)
        // The address of a POST cannot be requested by GET.
        let again =
            isGet
            ? request.base + request.path + WebFields.query(request.query.pairs)
            : request.base + content.path
        let zone = request.zone.map { mirror.configuration.name(of: $0) } ?? "UTC"
        context = [
            "title": .text(content.title), "mirror": .text(mirror.name),
            "base": .text(request.base),
            "pageLanguage": .text(Language.current.rawValue),
            "theme": .text(request.access.theme?.rawValue), "style": .text(WebAsset.style.address),
            "script": .text(WebAsset.script.address),
            "human": .account(
                request.record.humanHandle.map { "@\($0)" }
                    ?? Self.wordsWithoutAccount(mirror, .human)),
            "bot": .account(
                request.record.botHandle.map { "@\($0)" } ?? Self.wordsWithoutAccount(mirror, .bot)),
            "hasIndex": .flag(request.access.hasIndex),
            "pages": .list(items), "more": .list(Array(items.dropFirst(Self.mainSections))),
            "isMoreCurrent": .flag(hiddenSections.contains(content.section)),
            "events": isGet
                ? .text("\(request.base)/events" + WebFields.query([("since", stamp)])) : .none,
            "again": .text(again),
            "said": .fields(said.map { Self.said($0, request) }),
            "refusal": .fields(content.refusal.map { Self.refusal($0) }),
            "isReadOnly": .flag(request.access.isReadOnly), "strip": .fields(strip),
            "content": .markup(TemplateLibrary.standard.render(content.template, content.context)),
            "asOf": .markup(words.time(request.now, showing: words.clockWithSeconds(request.now))),
            "zone": .text(zone),
            "version": .text(version), "token": .markup(request.hidden()),
            "canLogOut": .flag(request.access.hasLogin),
        ]
    }

    private static func wordsWithoutAccount(_ mirror: HumanMirror, _ role: AccountRole) -> String {
        localized(role == .human ? "a human without an account" : "no bot yet")
    }

    /// Returns the CSS classes of a section's link: `group` begins a group of links, and a narrow
    /// screen hides `rest`.
    private static func classes(of section: PageSection) -> String? {
        switch section {
        case .today, .waiting, .actions: nil
        case .hours: "group"
        case .people: "rest group"
        case .favorites, .texts, .health, .settings: "rest"
        }
    }

    private static func strip(_ health: Health, _ request: MirrorRequest) -> PageContext {
        // The verdict's sentence names a command; the strip leads to the page with the steps
        // instead.
        guard health.verdict.state != .unset || request.access.isReadOnly else {
            return [
                "state": .text(health.verdict.state.rawValue),
                "word": .text(localized("Not set up yet")),
                "rest": .text(""), "href": .text(SetupPage.address(of: nil, request)),
            ]
        }
        let (word, rest) = VerdictText.split(health.verdict.text)
        return [
            "state": .text(health.verdict.state.rawValue), "word": .text(word),
            "rest": .sentence(rest),
            "href": .text(
                health.verdict.state == .healthy ? request.base : "\(request.base)/health"),
        ]
    }

    private static func said(_ said: Said, _ request: MirrorRequest) -> PageContext {
        [
            "text": .sentence(said.text),
            "button": request.access.isReadOnly
                ? .none
                : .fields(
                    said.wayBack.map { button -> PageContext in
                        [
                            "verb": .text(button.verb), "action": .text(button.action),
                            "token": .markup(request.hidden()),
                            "fields": .list(
                                button.fields.map { name, value in
                                    ["name": .text(name), "value": .text(value)] as PageContext
                                }),
                        ]
                    }),
        ]
    }

    private static func refusal(_ refusal: Refusal) -> PageContext {
        ["title": .text(localized("Not done")), "text": .sentence(Words.capitalized(refusal.text))]
    }
}

/// Splits the text of a mirror's verdict into its first words, which stand beside the icon of the
/// state, and the rest of the sentence.
enum VerdictText {
    /// Splits `healthy, next post 20:13 (in 2 h)` into `Healthy` and `, next post 20:13 (in 2 h)`.
    static func split(_ text: String) -> (word: String, rest: String) {
        let separators: [Character] =
            switch Language.current {
            case .english: [",", ":"]
            case .japanese: ["、", "："]
            }
        let end = text.firstIndex { separators.contains($0) } ?? text.endIndex
        return (Words.capitalized(String(text[..<end])), String(text[end...]))
    }
}

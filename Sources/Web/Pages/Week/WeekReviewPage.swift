import Control
import Foundation
import Localization
import Mirroring
import Posts

extension PageTemplate {
    fileprivate static let pastWeek = PageTemplate("past-week")
}

/// The page about the last seven days: the bot's posts, the likeness of its hours to the human's,
/// its most answered reply, and the post that stands out.
enum WeekReviewPage: MirrorPage {
    static let section = PageSection.today
    static let path = "/week/review"
    static let templates: [PageTemplate] = [.pastWeek, .weekTabs]
    static let liveParts = ["review"]
    static let routes: [MirrorRoute] = [.get(path, page)]

    /// The most posts in the list.
    private static let maximumListed = 25
    /// The most bytes of a text.
    private static let textSize = 240

    @Sendable private static func page(_ request: MirrorRequest) async throws -> WebReply {
        let review: WeekReview? =
            if let zone = request.zone {
                try await WeekReview(of: request.mirror, zone: zone, now: request.now)
            } else {
                nil
            }
        return .page(
            PageContent(
                .pastWeek, title: localized("The week in review"), in: section, at: path,
                context(review, of: request)))
    }

    static func context(_ review: WeekReview?, of request: MirrorRequest) -> PageContext {
        let posts = review?.posts ?? []
        let furtherPosts = posts.count - maximumListed
        return [
            "base": .text(request.base), "isAhead": false,
            "lead": .text(
                review.map(lead) ?? localized("Nobody knows yet by which clock the human lives.")),
            "alike": .text(review.flatMap(likenessSentence)),
            "days": .list((review?.days ?? []).map { day($0, request.words) }),
            "hasDays": .flag(review != nil),
            "best": .fields(review?.mostAnswered.map { best($0, request) }),
            "odd": .fields(review?.odd.map { odd($0, request) }),
            "posts": .list(posts.reversed().prefix(maximumListed).map { post($0, request) }),
            "hasPosts": .flag(!posts.isEmpty),
            "rest": .text(
                furtherPosts > 0 ? localized("and \(Words.count(furtherPosts, "older post"))") : nil
            ),
            "actions": .text(request.link("/actions", [("kind", "post"), ("state", "done")])),
        ]
    }

    // MARK: In sentences

    private static func lead(_ review: WeekReview) -> String {
        let parts = Words.counts([
            (review.posts.count, "post", "posts"), (review.replies, "reply", "replies"),
            (review.favorites, "favorite", "favorites"),
        ])
        if parts.isEmpty {
            return localized("The bot said nothing in the last seven days.")
        }
        return localized("In the last seven days: \(parts.joined(by: .and)).")
    }

    private static func likenessSentence(_ review: WeekReview) -> String? {
        guard let share = review.likeness.share else { return nil }
        let sentence =
            localized(
                "\(Words.percent(share)) of the posts fall into hours in which the human posts as often."
            )
        guard let expected = review.likeness.expected else { return sentence }
        let comparison = localized(
            "As many posts drawn from the human’s own hours would reach about \(Words.percent(expected))."
        )
        return [sentence, comparison].joined(by: .sentence)
    }

    private static func day(_ day: WeekReview.Day, _ words: Words) -> PageContext {
        [
            "day": .text(
                words.shortDayWithWeekday(day.day)),
            "posts": .number(day.posts),
            "usual": .text(day.usual.map { String(format: "%.1f", $0) } ?? "–"),
        ]
    }

    // MARK: Posts

    private static func post(_ action: ReportedAction, _ request: MirrorRequest) -> PageContext {
        let words = request.words
        let date = action.due ?? action.at
        return [
            "at": .markup(words.time(date, showing: words.clock(date))),
            "day": .text(words.shortDay(words.day(of: date))),
            "text": .text(action.text.map { ListWords.cut($0, bytes: textSize) }),
            "language": .text(action.language.flatMap(LanguageTag.naming)),
            "written": .text(words.written(action.written, copied: date)),
            "href": .text(request.link("/actions/\(WebFields.encoded(action.id))")),
            "address": .text(action.address), "moment": .text(words.moment(date)),
        ]
    }

    private static func best(_ answered: WeekReview.AnsweredReply, _ request: MirrorRequest)
        -> PageContext
    {
        var context = post(answered.reply, request)
        context["whom"] = .account(
            answered.reply.person.map { ListWords.name($0.name) } ?? localized("somebody"))
        context["count"] = .text(
            localized("\(Words.count(answered.answers, "answer")), as far as the bot heard."))
        return context
    }

    private static func odd(_ odd: WeekReview.OddPost, _ request: MirrorRequest) -> PageContext {
        var context = post(odd.post, request)
        // The reason contains the time when the text was written, so it is not shown twice.
        if case .written = odd.reason { context["written"] = PageValue.none }
        context["reason"] = .text(sentence(odd.reason))
        context["never"] = .text(
            request.access.isReadOnly
                ? nil : request.link("/confirm/never", [("post", odd.post.id)]))
        return context
    }

    private static func sentence(_ reason: WeekReview.OddPost.Reason) -> String {
        switch reason {
        case .written(let minute):
            localized("It was written at \(minute), and said at another time of the day.")
        case .hour(let share):
            localized(
                "In this hour the human has only \(Words.percent(share, digits: 1)) of their posts."
            )
        case .language(let language):
            localized("No other post of the week is in its language (\(language)).")
        }
    }
}

package import Control
import Foundation
import Localization

/// The hours, the week and the days of human and bot in one SVG document, light or dark by the
/// viewer's preference.
package struct HoursPicture: Sendable {
    private let times: StatsReport.Times
    private let human: String?
    private let bot: String?
    private let words: Words

    /// - Parameters:
    ///   - times: The posts of human and bot.
    ///   - human: The human's handle, without `@`; nil if unknown.
    ///   - bot: The bot's handle.
    ///   - words: Formats the days.
    init(_ times: StatsReport.Times, human: String?, bot: String?, words: Words) {
        self.times = times
        self.human = human
        self.bot = bot
        self.words = words
    }

    package init(_ stats: StatsReport) {
        let zone = TimeZone(identifier: stats.timeZone) ?? .gmt
        self.init(
            stats.times, human: stats.human, bot: stats.bot,
            words: Words(zone: zone, now: stats.made))
    }

    /// The SVG of the whole picture.
    package var svg: String { TemplateLibrary.files.render(.hoursPicture, context).text }

    /// The values of its template.
    var context: PageContext {
        let dial = Dial(
            human: times.human, bot: times.bot, likeness: times.likeness, now: nil)
        let week = WeekGrid(human: times.human, bot: times.bot)
        let days = DayBars(days: times.days, words: words)
        return [
            "human": .text(human ?? localized("the human")),
            "bot": .text(bot ?? localized("the bot")),
            "dial": .markup(dial.drawing.element), "week": .markup(week.drawing.element),
            "days": .markup(days.drawing.element),
        ]
    }
}

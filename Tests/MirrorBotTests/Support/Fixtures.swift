import Foundation
import Posts
import TestSupport

/// A past that a test can name in one line.
enum Fixture {
    static let day: TimeInterval = 86_400

    /// Own posts as JSON Lines: the same minutes on each of the days that end ten days ago.
    ///
    /// - Parameters:
    ///   - days: How many days.
    ///   - perDay: How many posts on each, half an hour apart from noon UTC on.
    /// - Returns: The lines.
    static func lines(days: Int = 20, perDay: Int = 1) -> String {
        let today = Date(
            timeIntervalSince1970: (Date().timeIntervalSince1970 / day).rounded(.down) * day)
        var lines = ""
        for number in 0..<days {
            let noon = today + (Double(number - days - 10) + 0.5) * day
            for index in 0..<perDay {
                let date = noon + Double(index) * 1_800
                lines += line("\(number)-\(index)", "Loaf \(index) of morning \(number)", at: date)
            }
        }
        return lines
    }

    /// One post as a line.
    static func line(
        _ id: String, _ text: String, at date: Date = Date(timeIntervalSince1970: 1_750_000_000)
    ) -> String {
        #"{"id":"\#(id)","author":"me@home.example","text":"\#(text)","created_at":"\#(date.rfc3339)"}"#
            + "\n"
    }

    /// Labelled posts of others as JSON Lines: bread is favorited, rain is not.
    static func examples(_ count: Int) -> String {
        (0..<count).map { number in
            let text =
                number % 2 == 0
                ? "fresh bread from the oven \(number)" : "rain and meetings \(number)"
            return
                #"{"id":"e\#(number)","author":"pal@home.example","text":"\#(text)","favorite":\#(number % 2 == 0)}"#
                + "\n"
        }.joined()
    }

    /// Writes the folder of an extracted X archive: three posts and a reply a day, and some likes.
    static func xArchive(in folder: TemporaryDirectory, withLikes: Bool = true) throws -> String {
        let data = folder.path("archive/data")
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        let start = Date(timeIntervalSince1970: 1_767_571_200)
        var tweets: [String] = []
        for number in 0..<30 {
            let midnight = start + Double(number) * day
            for index in 0..<3 {
                let date = midnight + Double(index * 5 + 1) * 3_600 + 420
                tweets.append(tweet("Small thought \(index) of day \(number)", at: date))
            }
            let answered =
                #","in_reply_to_user_id_str":"\#(1_000 + number % 2)","in_reply_to_status_id_str":"77""#
            tweets.append(
                tweet(
                    "@pal\(number % 2) thank you on day \(number)", at: midnight + 43_200,
                    more: answered))
        }
        let likes = (0..<30).map {
            #"{"like":{"tweetId":"\#(900 + $0)","fullText":"liked bread number \#($0)"}}"#
        }
        let files = [
            "tweets": tweets, "like": likes,
            "account": [#"{"account":{"accountId":"42","username":"me"}}"#],
        ]
        for (name, items) in files where withLikes || name != "like" {
            let text = "window.YTD.\(name).part0 = [\(items.joined(separator: ","))]"
            try text.write(toFile: "\(data)/\(name).js", atomically: false, encoding: .utf8)
        }
        return folder.path("archive")
    }

    /// The id holds the time, as X makes them.
    private static func tweet(_ text: String, at date: Date, more: String = "") -> String {
        let id = (UInt64(date.timeIntervalSince1970 * 1_000) - 1_288_834_974_657) << 22
        let format = Date.VerbatimFormatStyle(
            format: """
                \(weekday: .abbreviated) \(month: .abbreviated) \(day: .twoDigits) \
                \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\
                \(second: .twoDigits) +0000 \(year: .defaultDigits)
                """, locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt,
            calendar: Calendar(identifier: .gregorian))
        return #"{"tweet":{"id_str":"\#(id)","full_text":"\#(text)","lang":"en","#
            + #""created_at":"\#(date.formatted(format))"\#(more)}}"#
    }
}

/// The instant of a test, seen from a zone in which it is about noon, so that midnight is far.
struct Noon {
    let zone: String
    /// Leaves only the quarter of an hour around now free, so that every slot of today's plan is
    /// near.
    let quietHours: String

    init(at now: Date = Date()) {
        let minute = Int(now.timeIntervalSince1970 / 60) % 1_440
        let offset = 12 - minute / 60
        // The signs of these zones are the other way round.
        zone = offset == 0 ? "Etc/GMT" : "Etc/GMT\(offset > 0 ? "-" : "+")\(abs(offset))"
        let local = minute + offset * 60
        quietHours = [local + 2, local - 12].map { minute in
            String(minute / 60).leftPadded + ":" + String(minute % 60).leftPadded
        }.joined(separator: "-")
    }
}

extension String {
    fileprivate var leftPadded: String { count < 2 ? "0" + self : self }
}

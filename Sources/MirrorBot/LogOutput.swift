import Foundation
import Logging
import Mirroring
import Posts
import Settings

/// The output of a console's loggers: one event a line on its standard error.
///
/// A logger keeps the handler with which it was created.
final class LogOutput: @unchecked Sendable {
    // Sendable because `makeHandler` is only touched under `lock`.
    typealias Format = LogSettings.Format

    private let stream: Console.Output
    private let lock = NSLock()
    private var makeHandler: @Sendable (String) -> any LogHandler

    /// Creates an output that writes on this stream, with the default settings until `follow(_:)`.
    init(on stream: Console.Output) {
        self.stream = stream
        makeHandler = { LineLogHandler(label: $0, format: .logfmt, level: .info, stream: stream) }
    }

    /// Makes all new loggers of the process use the current console; calling it again does nothing.
    static func install() { _ = installed }

    // The logging system accepts this only once in a process.
    private static let installed: Void = LoggingSystem.bootstrap { Console.current.log.handler($0) }

    /// Makes new loggers write according to the settings.
    func follow(_ configuration: MirrorConfiguration) {
        let log = configuration.process.log
        let level = log.level
        let format =
            log.format
            ?? (stream.terminal.isInteractive ? .pretty : .logfmt)
        let zone = configuration.mirror.timeZone ?? .current
        lock.withLock { [stream] in
            makeHandler = {
                LineLogHandler(label: $0, format: format, level: level, zone: zone, stream: stream)
            }
        }
    }

    /// Makes new loggers write nothing.
    func silence() { lock.withLock { makeHandler = { _ in SwiftLogNoOpLogHandler() } } }

    private func handler(_ label: String) -> any LogHandler { lock.withLock { makeHandler }(label) }
}

/// Writes each event as one line; its contents cannot break the line.
struct LineLogHandler: LogHandler {
    let label: String
    let format: LogOutput.Format
    /// The zone of timestamps for people; programs get UTC.
    let zone: TimeZone
    /// The stream to which the lines go, also if `Console.current` is another one when something
    /// is logged.
    let stream: Console.Output
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]

    init(
        label: String, format: LogOutput.Format, level: Logger.Level, zone: TimeZone = .gmt,
        stream: Console.Output = Console.current.error
    ) {
        self.label = label
        self.format = format
        self.zone = zone
        self.stream = stream
        self.logLevel = level
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let allMetadata = metadata.merging(event.metadata ?? [:]) { _, new in new }
        let fields = allMetadata.map { ($0.key, "\($0.value)") }.sorted { $0.0 < $1.0 }
        let line = line(event.level, "\(event.message)", fields, at: Date())
        stream.write(line + "\n")
    }

    /// One event without its line break.
    func line(_ level: Logger.Level, _ message: String, _ fields: [(String, String)], at date: Date)
        -> String
    {
        let time = date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        switch format {
        case .pretty:
            let pairs = fields.map { name, value in "\(name)=\(Printable.line(value))" }
                .joined(separator: " ")
            return "\(localTime(date)) \(level) \(Printable.line(message)) \(pairs)"
        case .logfmt:
            let pairs = [("ts", time), ("level", level.rawValue), ("msg", message)] + fields
            return pairs.map { name, value in "\(name)=\(Self.quoted(value))" }
                .joined(separator: " ")
        case .json:
            let pairs = [("ts", time), ("level", level.rawValue), ("msg", message)] + fields
            let members = pairs.map { name, value in
                "\(Self.jsonString(name)):\(Self.jsonString(value))"
            }
            return "{\(members.joined(separator: ","))}"
        }
    }

    /// Returns the time of day with the UTC offset, such as `14:05:33+09:00`.
    private func localTime(_ date: Date) -> String {
        let offset = zone.offset(at: date)
        let shifted = (date + TimeInterval(offset)).formatted(Date.ISO8601FormatStyle())
        let minutes = abs(offset) / 60
        // `2026-11-20T14:05:33Z` without the date and the `Z`.
        return shifted.dropFirst(11).prefix(8)
            + String(format: "%@%02d:%02d", offset < 0 ? "-" : "+", minutes / 60, minutes % 60)
    }

    /// A value in logfmt, in quotes unless it is a single plain word.
    private static func quoted(_ value: String) -> String {
        // The text is compared by scalars: a quote with an accent is a different character, but
        // still ends the value for a parser.
        let safe = Printable.line(value).unicodeScalars
        let isPlain = !safe.isEmpty && !safe.contains { " \"=\\".unicodeScalars.contains($0) }
        guard !isPlain else { return String(safe) }
        var quoted = "\""
        for scalar in safe {
            if scalar == "\"" || scalar == "\\" { quoted.unicodeScalars.append("\\") }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted + "\""
    }

    private static func jsonString(_ value: String) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        // Every text can be encoded.
        return (try? encoder.encode(value)).map {
            JSONOutput.escaped(String(decoding: $0, as: UTF8.self))
        } ?? "\"\""
    }
}

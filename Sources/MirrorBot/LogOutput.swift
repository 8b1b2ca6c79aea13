import Foundation
import Logging
import Mirroring

/// The log on standard error, one event a line.
enum LogOutput {
    /// How an event is written.
    enum Format: String {
        case logfmt
        case json
        case pretty
    }

    /// Makes every logger write as the settings say.
    static func install(_ values: SettingValues) {
        let level = values.text("LOG_LEVEL").flatMap(Logger.Level.init(rawValue:)) ?? .info
        let format =
            values.text("LOG_FORMAT").flatMap(Format.init(rawValue:))
            ?? (Terminal.error.isInteractive ? .pretty : .logfmt)
        let zone = values.text("TIME_ZONE").flatMap(TimeZone.init(identifier:)) ?? .current
        LoggingSystem.bootstrap { label in
            LineLogHandler(label: label, format: format, level: level, zone: zone)
        }
    }
}

/// Writes each event as one line; what it holds cannot break the line.
struct LineLogHandler: LogHandler {
    let label: String
    let format: LogOutput.Format
    /// In which a person reads the time; programs read it in UTC.
    let zone: TimeZone
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]

    init(label: String, format: LogOutput.Format, level: Logger.Level, zone: TimeZone = .gmt) {
        self.label = label
        self.format = format
        self.zone = zone
        self.logLevel = level
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        let fields = all.map { ($0.key, "\($0.value)") }.sorted { $0.0 < $1.0 }
        let line = line(event.level, "\(event.message)", fields, at: Date())
        StandardError.write(line + "\n")
    }

    /// One event without its line break.
    func line(_ level: Logger.Level, _ message: String, _ fields: [(String, String)], at date: Date) -> String {
        let time = date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        switch format {
        case .pretty:
            let rest = fields.map { "\($0.0)=\(Printable.line($0.1))" }.joined(separator: " ")
            return "\(localTime(date)) \(level) \(Printable.line(message)) \(rest)"
        case .logfmt:
            let pairs = [("ts", time), ("level", level.rawValue), ("msg", message)] + fields
            return pairs.map { "\($0.0)=\(Self.quoted($0.1))" }.joined(separator: " ")
        case .json:
            let pairs = [("ts", time), ("level", level.rawValue), ("msg", message)] + fields
            let body = pairs.map { "\(Self.jsonString($0.0)):\(Self.jsonString($0.1))" }
            return "{\(body.joined(separator: ","))}"
        }
    }

    /// `14:05:33+09:00`.
    private func localTime(_ date: Date) -> String {
        let offset = zone.secondsFromGMT(for: date)
        let shifted = (date + TimeInterval(offset)).formatted(Date.ISO8601FormatStyle())
        let minutes = abs(offset) / 60
        return shifted.dropFirst(11).prefix(8)
            + String(format: "%@%02d:%02d", offset < 0 ? "-" : "+", minutes / 60, minutes % 60)
    }

    /// A logfmt value: bare when it is one plain word.
    private static func quoted(_ value: String) -> String {
        // By scalars: a quote that carries an accent is another character, but still ends the value for a reader.
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
        return (try? encoder.encode(value)).map { JSONOutput.escaped(String(decoding: $0, as: UTF8.self)) } ?? "\"\""
    }
}

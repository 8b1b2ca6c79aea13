import Logging

/// A log that the test can read: one line an event, as `level message key=value`.
struct LogRecorder: LogHandler {
    let lines: Recorder<String>
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    init(lines: Recorder<String>) { self.lines = lines }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let fields = metadata.merging(event.metadata ?? [:]) { $1 }.map { "\($0.key)=\($0.value)" }.sorted()
        lines.add((["\(event.level)", "\(event.message)"] + fields).joined(separator: " "))
    }
}

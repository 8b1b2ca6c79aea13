package import Logging

/// A log that the test can read: one line an event, as `level message key=value`.
package struct LogRecorder: LogHandler {
    package let lines: Recorder<String>
    package var logLevel = Logger.Level.trace
    package var metadata: Logger.Metadata = [:]

    package init(lines: Recorder<String>) { self.lines = lines }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let fields = metadata.merging(event.metadata ?? [:]) { $1 }.map { "\($0.key)=\($0.value)" }
            .sorted()
        lines.add((["\(event.level)", "\(event.message)"] + fields).joined(separator: " "))
    }
}

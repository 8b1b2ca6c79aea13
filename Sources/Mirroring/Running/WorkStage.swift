import Networks
import Outbox
import Storage
package import Tracing

/// A stage of a mirror's work, which `swift-distributed-tracing` records as a span.
///
/// The program sets no tracer, so nothing is recorded; a process that bootstraps one gets the
/// spans. Their attributes are the mirror's name, the subject of the stage, the host of the
/// network, the outcome and the kind of an error, never a text, a person, or the message of an
/// error.
package enum WorkStage: String, Sendable {
    /// Reading new items of a feed.
    case observe
    /// Deciding about read items, or planning a day.
    case decide
    /// Sending one action.
    case deliver

    /// The names of a span's attributes.
    package enum Attribute {
        package static let mirror = "mirror_bot.mirror"
        /// The feed, or the kind of the decided or sent action.
        package static let kind = "mirror_bot.kind"
        /// The state of an action afterwards.
        package static let outcome = "mirror_bot.outcome"
        package static let host = "server.address"
        package static let error = "error.type"
    }

    /// Does a part of the work in a span.
    ///
    /// - Parameters:
    ///   - parent: The context of the parent span; nil for that of the task.
    ///   - outcome: Returns the outcome for the span.
    ///   - work: Runs inside the span; the span records only the kind of its error, which is thrown
    ///     on.
    /// - Throws: The error of `work`.
    package func traced<Value>(
        mirror: String, kind: String, host: String, parent: InstrumentationContext? = nil,
        outcome: (Value) -> String? = { _ in nil }, isolation: isolated (any Actor)? = #isolation,
        _ work: () async throws -> Value
    ) async throws -> Value {
        // Not withSpan, which hands the whole of an error to the tracer.
        let span = startSpan(rawValue, context: parent ?? .current ?? .topLevel)
        defer { span.end() }
        if span.isRecording {
            span.updateAttributes { attributes in
                attributes[Attribute.mirror] = mirror
                attributes[Attribute.kind] = kind
                attributes[Attribute.host] = host
            }
        }
        do {
            let value = try await InstrumentationContext.withValue(span.context, operation: work)
            if span.isRecording, let outcome = outcome(value) {
                span.attributes[Attribute.outcome] = outcome
            }
            return value
        } catch {
            span.attributes[Attribute.error] = Self.kind(of: error)
            span.setStatus(SpanStatus(code: .error))
            throw error
        }
    }

    /// The kind of an error, without its message.
    private static func kind(of error: any Error) -> String {
        switch error {
        case let error as NetworkError: error.code.rawValue
        case let error as StorageError: error.code.label
        case let error as OutboxError: error.code.rawValue
        default: String(describing: type(of: error))
        }
    }
}

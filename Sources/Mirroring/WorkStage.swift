import Networks
import Outbox
import Storage
package import Tracing

/// A stage of a mirror's work, of which `swift-distributed-tracing` is told as a span.
///
/// The program sets no tracer, so that nothing is recorded; a process that bootstraps one gets the
/// spans. Their attributes are the mirror's name, what the stage is about, the host of the network,
/// how it ended and the kind of an error, never a text, a person, or the words of an error.
package enum WorkStage: String, Sendable {
    /// Reading what is new in a feed.
    case observe
    /// Deciding about what was read, or planning a day.
    case decide
    /// Sending one action.
    case deliver

    /// The names of a span's attributes.
    package enum Attribute {
        package static let mirror = "mirror_bot.mirror"
        /// The feed that is read, or the kind of what is decided or sent.
        package static let kind = "mirror_bot.kind"
        /// The state of an action afterwards.
        package static let outcome = "mirror_bot.outcome"
        package static let host = "server.address"
        package static let error = "error.type"
    }

    /// Does a part of the work in a span.
    ///
    /// - Parameters:
    ///   - parent: The context of the span that led to this one; nil for that of the task.
    ///   - outcome: What the span says of how it ended.
    ///   - work: Its error is thrown on; the span has the error's kind alone.
    /// - Throws: What `work` throws.
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

    /// The kind of an error, without what it says.
    private static func kind(of error: any Error) -> String {
        switch error {
        case let error as NetworkError: error.code.rawValue
        case let error as StorageError: error.code.label
        case let error as OutboxError: error.code.rawValue
        default: String(describing: type(of: error))
        }
    }
}

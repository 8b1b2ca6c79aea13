import Formats
import Foundation
import Networks
import Posts

extension RecordReference: Decodable {
    package init(from decoder: any Decoder) throws {
        guard let reference = RecordReference(try WireObject(from: decoder)) else {
            throw ShapeError()
        }
        self = reference
    }

    /// The reference as JSON, in the form that the server accepts.
    var json: JSONValue { .object(["uri": .text(address.uri), "cid": .text(cid)]) }
}

extension BlueskyPostRecord: Decodable {
    package init(from decoder: any Decoder) throws { try self.init(try WireObject(from: decoder)) }
}

extension BlueskyPostRecord.Reply {
    /// The references as JSON, in the form that the server accepts.
    var json: JSONValue { .object(["root": root.json, "parent": parent.json]) }
}

extension BlueskyBlob {
    /// - Parameter value: `{"$type":"blob","ref":{"$link":…},"mimeType":…,"size":…}`; the result is
    ///   nil for any other value.
    init?(_ value: JSONValue?) {
        guard case .object(let fields) = value, case .object(let reference) = fields["ref"],
            case .text(let cid) = reference["$link"]
        else { return nil }
        self.init(cid: cid)
    }
}

/// The record of a favorite by the account that gave it.
struct BlueskyLikeRecord: Decodable, Sendable {
    let subject: RecordReference
}

/// A record in a list, whose value may be unreadable.
struct BlueskyListedRecord<Value: Decodable & Sendable>: Decodable, Sendable {
    let reference: RecordReference
    /// Nil if the value has an unexpected shape.
    let value: Value?

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        guard let reference = RecordReference(wire) else { throw ShapeError() }
        self.reference = reference
        value = wire.value(Value.self, "value")
    }
}

import Foundation

/// The fields of a request body, from JSON or from a form.
///
/// Strict where real servers are lax, so that a misspelt field is noticed:
/// every name must be known and every value must have the right type.
struct WireFields: Sendable {
    private enum Value: Decodable, Sendable {
        case text(String)
        case flag(Bool)
        case other

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let flag = try? container.decode(Bool.self) {
                self = .flag(flag)
            } else if let text = try? container.decode(String.self) {
                self = .text(text)
            } else {
                self = .other
            }
        }
    }

    private let values: [String: Value]

    /// - Throws: 406 for a body that is neither JSON nor a form, 400 for one that cannot be read, 422 for an unknown
    ///   field.
    init(_ request: WireRequest, allowed: Set<String>) throws(WireRefusal) {
        if request.body.isEmpty {
            values = [:]
            return
        }
        switch request.mediaType {
        case "application/json":
            do {
                values = try JSONDecoder().decode([String: Value].self, from: Data(request.body))
            } catch {
                throw WireRefusal(status: 400, message: "Bad Request: could not read the JSON body")
            }
        case "application/x-www-form-urlencoded":
            let pairs = WireRequest.form(String(decoding: request.body, as: UTF8.self))
            values = Dictionary(pairs.map { ($0.name, .text($0.value)) }, uniquingKeysWith: { $1 })
        default:
            throw WireRefusal(status: 406, message: "Not Acceptable: expected JSON or a form")
        }
        if let unknown = values.keys.sorted().first(where: { !allowed.contains($0) }) {
            throw .invalid("unknown field \(unknown.prefix(40))")
        }
    }

    func text(_ name: String) throws(WireRefusal) -> String? {
        switch values[name] {
        case .text(let text): return text
        case nil: return nil
        default: throw .invalid("\(name) must be a text")
        }
    }

    func flag(_ name: String) throws(WireRefusal) -> Bool? {
        switch values[name] {
        case .flag(let flag): return flag
        case .text("true"), .text("1"): return true
        case .text("false"), .text("0"): return false
        case nil: return nil
        default: throw .invalid("\(name) must be true or false")
        }
    }
}

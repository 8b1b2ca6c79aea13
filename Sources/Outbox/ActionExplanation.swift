import Foundation

/// Additions to the explanation of an action, which is an object of JSON that others write and read.
enum ActionExplanation {
    /// The explanation with what the network said when it ended the action.
    ///
    /// - Parameters:
    ///   - outcome: One sentence for people.
    ///   - explanation: As it is stored.
    /// - Returns: The explanation with `outcome`; without one before, the sentence is also its `summary`.
    static func adding(_ outcome: String?, to explanation: String?) -> String? {
        guard let outcome else { return explanation }
        let stored = explanation.flatMap { try? JSONSerialization.jsonObject(with: Data($0.utf8)) } as? [String: Any]
        var object = stored ?? ["summary": outcome]
        object["outcome"] = outcome
        let data = try? JSONSerialization.data(withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
        return data.map { String(decoding: $0, as: UTF8.self) } ?? explanation
    }
}

package import Control
import Mirroring
package import Outbox
import Testing

extension Desk {
    /// Changes a slot.
    ///
    /// - Returns: The slot as it is stored then.
    /// - Throws: What the operation throws.
    package func slot<Operation: PersonOperation>(
        after operation: Operation
    ) async throws -> Action where Operation.Outcome == SlotsChange {
        let change = try await perform(operation)
        let id = try #require(change.slots.first).id
        return try #require(try await mirror.outbox(lease: nil).actions(withIDs: [id])[id])
    }
}

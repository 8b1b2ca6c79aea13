package import Archive
package import Outbox

/// A stored decision with the version and the text that it is based on.
package struct Decision: Sendable {
    package let action: Action
    /// The mirror's version when the facts were read; nil if it is not known.
    package let version: Int64?
    /// The post whose text the action uses, as it was when the facts were read; nil if it is not
    /// known.
    package let source: Archive.Original?

    package init(of action: Action, asOf version: Int64? = nil, source: Archive.Original? = nil) {
        self.action = action
        self.version = version
        self.source = source
    }
}

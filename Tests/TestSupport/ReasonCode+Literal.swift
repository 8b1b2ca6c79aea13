package import Posts

/// Tests name a reason by the code that is stored.
extension ReasonCode: ExpressibleByStringLiteral {
    package init(stringLiteral value: String) { self.init(rawValue: value) }
}

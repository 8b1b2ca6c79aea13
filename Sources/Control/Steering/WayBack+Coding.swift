import Posts

extension WayBack: Codable {
    private enum CodingKeys: CodingKey {
        /// ``PersonOperation/name``, by which the type of `request` is found.
        case operation
        case request
        case seen
        case arguments
    }

    /// The operations that revert another one.
    private static let operations: [any PersonOperation.Type] = [
        AddZone.self, AllowPeople.self, CancelRetirement.self, DenyPeople.self,
        DismissSuggestion.self, ForgetText.self, KeepText.self, LinkPeople.self, MoveSlot.self,
        NeverSend.self, PauseMirror.self, RememberText.self, RemoveMirror.self, RemoveZone.self,
        ReopenSuggestion.self, RestoreSlot.self, ResumeMirror.self, SendAgain.self,
        SetValues.self, SkipSlot.self, UnkeepText.self, UnlinkPerson.self, UnsetValues.self,
    ]

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let name = try container.decode(String.self, forKey: .operation)
        guard let type = Self.operations.first(where: { $0.name == name }) else {
            throw DecodingError.dataCorruptedError(
                forKey: .operation, in: container,
                debugDescription: "\(name) reverts no other operation")
        }
        self.init(
            try container.decode(type, forKey: .request),
            seen: try container.decodeIfPresent(Seen.self, forKey: .seen),
            try container.decode([String].self, forKey: .arguments))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(type(of: operation).name, forKey: .operation)
        try container.encode(operation, forKey: .request)
        try container.encodeIfPresent(seen, forKey: .seen)
        try container.encode(arguments, forKey: .arguments)
    }
}

extension WayBack: Equatable {
    package static func == (left: WayBack, right: WayBack) -> Bool {
        left.operation.equals(right.operation) && left.seen == right.seen
            && left.arguments == right.arguments
    }
}

extension PersonOperation {
    fileprivate func equals(_ other: any PersonOperation) -> Bool { other as? Self == self }
}

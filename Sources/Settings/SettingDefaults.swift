/// The defaults that a network has of its own for some settings.
///
/// ```swift
/// network.defaults[.favoriteMode] = .suggest
/// ```
package struct SettingDefaults: Sendable {
    private var found: [String: ParsedSetting] = [:]

    /// The network's own default; nil to use that of all networks.
    package subscript<Value>(_ setting: Setting<Value>) -> Value? {
        get { found[setting.name]?.value.value(of: Value.self) }
        set {
            found[setting.name] = newValue.map { value in
                ParsedSetting(value: AnySettingValue(value), text: setting.print(value))
            }
        }
    }

    /// The text of the default of a variable; nil to use that of all networks.
    func text(of name: String) -> String? { found[name]?.text }
}

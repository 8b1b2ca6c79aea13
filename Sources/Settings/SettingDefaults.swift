/// The defaults that a network has of its own for some settings.
///
/// ```swift
/// network.defaults[.favoriteMode] = .suggest
/// ```
package struct SettingDefaults: Sendable {
    private var defaults: [String: ParsedSetting] = [:]

    /// The network's own default; nil to use the setting's general default.
    package subscript<Value>(_ setting: Setting<Value>) -> Value? {
        get { defaults[setting.name]?.value.value(of: Value.self) }
        set {
            defaults[setting.name] = newValue.map { value in
                ParsedSetting(value: AnySettingValue(value), text: setting.print(value))
            }
        }
    }

    /// The text of the network's own default; nil to use the setting's general default.
    func text(of name: String) -> String? { defaults[name]?.text }
}

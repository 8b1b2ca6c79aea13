@testable import Web

/// Walks a template beside its context, and finds the names that it asks for in vain.
///
/// Mustache writes nothing for a name that is not there, so that a wrong one would never be seen.
struct TemplateKeys {
    private indirect enum Part {
        case name(String)
        case section(String, isInverted: Bool, [Part])
        case partial(String)
    }

    private let partials: [String: [Part]]
    private(set) var missing: Set<String> = []

    /// - Parameters:
    ///   - template: What is filled.
    ///   - context: The values.
    ///   - templates: Those that it may name, itself among them or not.
    init(_ template: PageTemplate, _ context: PageContext, _ templates: [PageTemplate]) {
        partials = Dictionary(templates.map { ($0.name, Self.parts(of: $0.source)) }) { first, _ in
            first
        }
        walk(Self.parts(of: template.source), [context])
    }

    private static func parts(of source: String) -> [Part] {
        var open: [(name: String, isInverted: Bool, parts: [Part])] = [("", false, [])]
        for tag in source.matches(of: /\{\{\{?\s*([#^\/>]?)\s*([\w.-]+)\s*\}?\}\}/) {
            let sign = String(tag.output.1)
            let name = String(tag.output.2)
            switch sign {
            case "#", "^": open.append((name, sign == "^", []))
            case "/":
                precondition(
                    open.count > 1 && open.last?.name == name, "section \(name) is not open")
                let closed = open.removeLast()
                open[open.count - 1].parts.append(
                    .section(name, isInverted: closed.isInverted, closed.parts))
            case ">": open[open.count - 1].parts.append(.partial(name))
            default: open[open.count - 1].parts.append(.name(name))
            }
        }
        precondition(open.count == 1, "section \(open.last?.name ?? "") is not closed")
        return open[0].parts
    }

    private mutating func walk(_ parts: [Part], _ stack: [PageContext]) {
        for part in parts {
            switch part {
            case .name(let name): if name != ".", value(name, stack) == nil { missing.insert(name) }
            case .partial(let name):
                if let parts = partials[name] {
                    walk(parts, stack)
                } else {
                    missing.insert("> \(name)")
                }
            case .section(let name, let isInverted, let parts):
                guard let value = value(name, stack) else {
                    missing.insert(name)
                    continue
                }
                walk(parts, isInverted, value, stack)
            }
        }
    }

    private mutating func walk(
        _ parts: [Part], _ isInverted: Bool, _ value: PageValue, _ stack: [PageContext]
    ) {
        switch value {
        case .none, .flag(false): if isInverted { walk(parts, stack) }
        case .list(let values) where values.isEmpty: if isInverted { walk(parts, stack) }
        case .fields(let fields): if !isInverted { walk(parts, stack + [fields]) }
        case .list(let values):
            for value in values where !isInverted {
                if case .fields(let fields) = value {
                    walk(parts, stack + [fields])
                } else {
                    walk(parts, stack)
                }
            }
        case .text, .markup, .flag: if !isInverted { walk(parts, stack) }
        }
    }

    private func value(_ name: String, _ stack: [PageContext]) -> PageValue? {
        stack.reversed().lazy.compactMap { $0[name] }.first
    }
}

"""The edge that AI assistants reach hearth by: `hearth serve`, over the Model Context Protocol."""
